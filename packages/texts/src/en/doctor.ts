import { formats } from './formats.ts';

const { count } = formats;

/** What `carillon doctor` finds, and how to correct it. */
export const doctor = {
  checks: {
    configuration: 'configuration',
    'data folder': 'data folder',
    database: 'database',
    'old transactions': 'old transactions',
    'read replicas': 'read replicas',
    partitions: 'partitions',
    secrets: 'secrets',
    scheduler: 'scheduler',
    webhooks: 'webhooks',
    'AI provider': 'AI provider',
    mail: 'mail',
    storage: 'storage',
    'reverse proxy': 'reverse proxy',
    assistants: 'assistants',
  },
  checking: 'Checking',
  found: (problems: number, warnings: number) =>
    `${count(problems, 'problem', 'problems')} and ${count(warnings, 'warning', 'warnings')} found.`,
  notChecked: 'This was not checked.',
  correctFirst: (variables: string) => `Correct ${variables} first.`,
  synchroniseClocks: 'Synchronise both clocks by NTP.',
  raiseConnections: 'Raise max_connections, or lower DATABASE_POOL.',

  deliveriesOfFailed: (deliveries: number) => `Deliveries wait for webhooks that have failed: ${deliveries}.`,
  deliveriesOfOff: (days: number, deliveries: number) =>
    `Deliveries have waited for ${days} days for webhooks that are off: ${deliveries}.`,
  endDeliveries: 'Start an API process, which ends them, or run carillon prune.',

  addEncryptionKey: 'Add its key to ENCRYPTION_KEY, after the first one.',
  secretsDecrypted: 'ENCRYPTION_KEY decrypts the secrets in the database',

  mailFolder: (folder: string) => `mail is written to ${folder} because SMTP_URL is not set`,
  mailAccepted: (host: string) => `${host} accepts mail`,
  mailLoginRejected: (host: string, cause: string) => `${host} rejects the log-in: ${cause}`,
  correctMailLogin: 'Correct the user and the password in SMTP_URL.',
  mailHostUnknown: (host: string, cause: string) => `The mail server ${host} is unknown: ${cause}`,
  correctMailHost: 'Correct the host in SMTP_URL.',
  mailNotSecure: (host: string, cause: string) => `No secure connection to ${host}: ${cause}`,
  correctMailScheme:
    'smtps:// uses TLS from the start, usually on port 465; smtp:// upgrades to it, usually on port 587. The certificate must match the host.',
  noAnswerInTime: (server: string, cause: string) => `${server} does not answer in time: ${cause}`,
  checkMailPort: 'Check the port in SMTP_URL and firewalls.',
  unreachable: (server: string, cause: string) => `${server} cannot be reached: ${cause}`,
  correctMailAddress: 'Correct the host and the port in SMTP_URL, or allow the connection.',

  modelGone: (model: string, provider: string) =>
    `The model ${model} is gone from the list of the provider ${provider}.`,
  modelEnds: (model: string, provider: string, day: string) =>
    `The model ${model} of the provider ${provider} ends on ${day}.`,
  chooseModel: 'Choose another model in the tasks that use it, and in the system settings.',

  noOldTransaction: 'no old transaction keeps dead rows',
  deadRows: (age: number, seconds: number, holder: string) =>
    `Dead rows of the last ${age} transactions${seconds > 0 ? ` (${seconds} s)` : ''} are kept for ${holder}, so that queues become slow.`,
  snapshotHolders: {
    session: (program: string) => `a transaction of ${program}`,
    prepared: (name: string) => `the prepared transaction ${name}`,
    slot: (name: string) => `the replication slot ${name}`,
  },
  endSnapshot: {
    session: (pid: number) => `End it: select pg_terminate_backend(${pid}).`,
    prepared: () => 'End it by commit prepared or rollback prepared.',
    slot: () => 'Start its reader, or drop it by pg_drop_replication_slot.',
  },

  partitionsExist: 'the partitions of this month and the next exist',
  noPartition: (table: string) => `${table} has no partition for new rows, which are stored in ${table}_later.`,
  makePartition:
    'Start an API process, which makes it, or run carillon prune. If one runs, its log says which table is in use.',
  idsUsed: (percent: number) => `${percent} % of the ids of executions are used, and none is used twice.`,
  planInstallation: 'Plan a further installation: see "Cells of users" in docs/operating/scaling.md.',

  filesInDatabase: 'files are stored in the database',
  bucket: (name: string) => `the bucket ${name}`,
  storageWorks: (location: string) => `objects can be written into, read from and deleted from ${location}`,
  storageFailed: {
    use: (location: string, cause: string) => `${location} cannot be used: ${cause}`,
    write: (location: string, cause: string) => `${location} cannot be written into: ${cause}`,
    read: (location: string, cause: string) => `${location} cannot be read from: ${cause}`,
    delete: (location: string, cause: string) => `${location} cannot be deleted from: ${cause}`,
  },
  contentDiffers: 'the content differs',
  objectMissing: 'the object is missing',
  correctFolder: 'Make DATA_DIR a folder that this user can write into, on a disk with free space.',
  correctBucket:
    'Correct S3_ENDPOINT, S3_REGION, S3_BUCKET and the keys, which need s3:PutObject, s3:GetObject and s3:DeleteObject.',

  settingsValid: {
    production: 'production settings, all valid',
    development: 'development settings, all valid',
  },
  setAsDescribed: (variables: string) => `Set ${variables} as described in .env.example.`,
  productionRejects: 'Production would reject it.',
  correctSchedulerSetting: 'Correct it: the scheduler does not start with it.',
  correctSpelling: 'Correct its spelling: .env.example lists all settings.',
  embeddedInProduction:
    'Production uses the embedded database, because DATABASE_URL is not set: only this machine can use it.',
  useServer: 'Set DATABASE_URL to a PostgreSQL 15 or newer that is backed up and upgraded like other servers.',

  folderCreated: (path: string) => `${path} is created at the first start`,
  folderUnreadable: (path: string, code: string) => `${path} cannot be read (${code}).`,
  useOwnFolder: 'Set DATA_DIR to a folder of your own.',
  notAFolder: (path: string) => `${path} is not a folder.`,
  useFolder: 'Set DATA_DIR to a folder.',
  folderWritable: (path: string) => `${path} can be written`,
  folderNotWritable: (path: string) => `${path} cannot be written by this user.`,
  ownFolder: 'Make this user its owner, or set DATA_DIR to another folder.',
  spaceLeft: (size: string) => `Its disk has ${size} left.`,
  freeSpace: 'Free some space, or move DATA_DIR.',
  othersHaveAccess: (path: string) => `Other users of this machine can access ${path}.`,
  takeAccess: (path: string) => `Run chmod go= ${path}`,

  embeddedCreated: 'the embedded PostgreSQL is created at the first start, because DATABASE_URL is not set',
  seePoolers: 'See "Poolers" in docs/operating/postgresql.md.',
  databaseErrors: {
    unknown: {
      message: 'The database cannot be used',
      fix: 'Check DATABASE_URL and the log of the server.',
    },
    noTls: {
      message: 'The server does not support TLS',
      fix: 'Turn TLS on at the server (ssl = on), or remove sslmode from DATABASE_URL if the network is trusted.',
    },
    tlsRequired: {
      message: 'The server requires TLS',
      fix: 'Add sslmode=require to DATABASE_URL, or sslmode=verify-full with sslrootcert.',
    },
    certificateNotTrusted: {
      message: 'The certificate of the server is not trusted',
      fix: 'Set sslrootcert in DATABASE_URL to the file of the CA certificate of this server.',
    },
    certificateOfOther: {
      message: 'The certificate of the server is for another host',
      fix: 'Set the host in DATABASE_URL to a name in the certificate, or use sslmode=verify-ca.',
    },
    certificateExpired: {
      message: 'The certificate of the server has expired',
      fix: 'Renew the certificate at the server.',
    },
    unknownParameter: {
      message: 'The server does not know a parameter of DATABASE_URL',
      fix: 'Remove this parameter from DATABASE_URL.',
    },
    refused: {
      message: 'Nothing listens at the address of the database',
      fix: 'Start PostgreSQL, or correct the host and port in DATABASE_URL.',
    },
    unknownHost: {
      message: 'The host of the database is unknown',
      fix: 'Correct the host in DATABASE_URL.',
    },
    noNameResolution: {
      message: 'The host of the database is unknown',
      fix: 'Correct the host in DATABASE_URL, or repair name resolution.',
    },
    wrongPassword: {
      message: 'The database rejects the password',
      fix: 'Correct the user and the password in DATABASE_URL.',
    },
    userRejected: {
      message: 'The database rejects this user',
      fix: 'Correct the user in DATABASE_URL, or allow it in pg_hba.conf.',
    },
    noDatabase: {
      message: 'The database does not exist',
      fix: 'Create it, or correct its name in DATABASE_URL.',
    },
    noPrivilege: {
      message: 'This user lacks a privilege',
      fix: 'Grant all privileges on the tables of the schemas public and drizzle, or make the user their owner.',
    },
    starting: {
      message: 'The database starts up or recovers',
      fix: 'Wait until it is ready: its log shows the progress.',
    },
    noConnection: {
      message: 'The server has no connection left',
      fix: 'Raise max_connections, or lower DATABASE_POOL.',
    },
    noAnswer: {
      message: 'The database does not answer in time',
      fix: 'Check the network to the server, and its load.',
    },
  },

  postgresTooOld: (version: string) => `PostgreSQL is ${version}, but must be 15 or newer.`,
  upgradePostgres: 'Upgrade it.',
  postgresAnswers: (version: string) => `PostgreSQL ${version} answers`,
  wrongEncoding: (encoding: string) => `Its encoding is ${encoding}.`,
  useUtf8: 'Create the database again with the encoding UTF8.',
  isStandby: 'It is a standby, which is read-only.',
  usePrimary: 'Set DATABASE_URL to the primary server.',
  readOnly: 'It is read-only: default_transaction_read_only is on.',
  endReadOnly: 'Switch it off for the database and the user.',
  databaseClock: (seconds: string, isAhead: boolean) =>
    `Its clock is ${seconds} s ${isAhead ? 'ahead of' : 'behind'} this machine's.`,
  tablesWithheld: (tables: readonly string[], more: number) =>
    `This user cannot read and write ${tables.join(', ')}${more > 0 ? ` and ${more} more tables` : ''}.`,
  grantTables: 'Grant all privileges on the tables, or make the user their owner.',
  schemaFixed: 'This user cannot change the schema, so no migration can be applied.',
  ownDatabase: 'Make the user the owner of the database and its tables.',
  noTables: 'It has no tables yet.',
  createdAtStart: 'They are created at the first start.',
  schemaTooOld: 'Its schema is from before 0000_initial.',
  runUpgradeScript: 'Run the script in docs/operating/upgrade.md once.',
  schemaNewest: (migration: string) => `its schema is the newest, ${migration}`,
  schemaTooNew: 'Its schema belongs to a newer version of Carillon.',
  useNewerVersion: 'Run that version, or restore a backup of this version.',
  migrationsMissing: (migrations: number) => `Migrations not applied yet: ${migrations}.`,
  appliedAtStart: 'They are applied at the next start.',
  connections: (processes: number, pool: number, needed: number) =>
    `${count(processes, 'API process', 'API processes')} with DATABASE_POOL=${pool} can use ${needed} connections`,
  ofPooler: (need: string) => `${need} of the pooler, whose limit is max_client_conn`,
  moreThanAllowed: (need: string, allowed: number) => `${need}, but the server allows ${allowed}.`,
  othersUseConnections: (need: string, others: number, allowed: number) =>
    `${need}, and others use ${others} of the ${allowed} that the server allows.`,
  ofAllowed: (need: string, allowed: number) => `${need} of the ${allowed} that the server allows`,

  reachedDirectly: 'it is reached without a pooler',
  reachedByPooler: (mode: string, keepsStatements: boolean) =>
    `it is reached through a pooler in ${mode} mode, ${keepsStatements ? 'with' : 'without'} prepared statements`,
  notPrepared: 'No statement is prepared, although they could be.',
  prepare: 'Remove DATABASE_PREPARE=false.',
  noDirectUrl:
    'DATABASE_DIRECT_URL is not set: migrations and backups hold a connection of the pooler, and wake-ups of other programs are not heard.',
  setDirectUrl: 'Set it to the address of PostgreSQL itself: see "Poolers" in docs/operating/postgresql.md.',
  noStatementTimeout: 'Its role has no statement_timeout, so statements that were given up keep running on the server.',
  setStatementTimeout: 'Set it with alter role: see "Poolers" in docs/operating/postgresql.md.',
  directToOther: 'DATABASE_DIRECT_URL leads to another database.',
  correctDirect: 'Correct its address or the name.',
  directToPooler: 'DATABASE_DIRECT_URL leads to a pooler in transaction mode.',
  useServerItself: 'Set it to the address of PostgreSQL itself.',
  directSame: 'DATABASE_DIRECT_URL leads to the same database',

  notItsStandby: (host: string) => `${host} is not a standby of the database at DATABASE_URL.`,
  correctReadUrl: 'Correct DATABASE_READ_URL. Nothing is read from this server.',
  isPrimary: (host: string) => `${host} is the primary, which answers these reads anyway.`,
  useStandbys: 'Set DATABASE_READ_URL to the standbys.',
  notRead: (host: string, reason: string) => `${host} is not read, and the primary answers instead. ${reason}`,
  standbyFollows: (host: string, ms: number) => `${host} is a standby and less than ${ms} ms behind`,
  standbyLags: (host: string, ms: number) => `${host} is more than ${ms} ms behind: the primary answers its reads.`,
  findDelay: 'Find out what delays its replay, such as a slow disk or long queries, or raise DATABASE_READ_MAX_LAG_MS.',

  startScheduling: 'Start an API process and the scheduler.',
  noProcess: 'No API process is connected to the database.',
  schedulerSilent: (seconds: number) => `The scheduler has not called for ${seconds} s.`,
  startScheduler: 'Start the scheduler. Its API_URL and CRON_SECRET must be those of the API.',
  inMaintenance: 'Maintenance mode is on: nothing is started.',
  endMaintenance: 'End it with PATCH /api/admin/settings and {"maintenanceMode": false}.',
  overdue: (tasks: number, seconds: number) =>
    `Due tasks are not enqueued. Overdue: ${tasks}, the oldest for ${seconds} s.`,
  checkLogs: 'Check the logs of the API processes and of the scheduler.',
  enqueuedLate: (runs: number, late: number, seconds: number) =>
    `Of the ${runs} runs in the last hour, ${late} were enqueued more than ${seconds} s late.`,
  startLateScheduler:
    'Start the scheduler: without it the API processes check once a minute. Its API_URL and CRON_SECRET must be those of the API.',
  executionsWait: (executions: number) => `Executions have waited for more than 10 minutes: ${executions}.`,
  addProcess: 'Raise EXECUTION_CONCURRENCY, or start another API process.',
  mailsWait: (mails: number) => `Mails have waited for more than 10 minutes: ${mails}.`,
  seeMailCheck: 'See the result of the mail check.',
  enqueuedInTime: 'due tasks are enqueued in time',

  offlineAnswers: 'The built-in model "offline" answers, which knows nothing.',
  setProvider: 'Set AI_BASE_URL to a provider, or add one on the page /admin/providers.',
  modelAnswers: (url: string, model: string, ms: number) => `${url} answers as ${model} within ${ms} ms`,
  keyRejected: (cause: string) => `The key is rejected: ${cause}`,
  correct: (variable: string) => `Correct ${variable}.`,
  raiseAiTimeout: 'Check the network, or raise AI_TIMEOUT_MS.',
  addCredit: 'Add credit to the account at the provider.',
  askForLimit: 'If this happens often, ask the provider for a higher limit.',
  correctAiAddress: 'Correct AI_BASE_URL, or allow the connection.',
  checkStatusPage: 'Check the status page of the provider.',
  modelDoesNotAnswer: (url: string, model: string, cause: string) =>
    `${url} does not answer as ${model}, the default model of tasks: ${cause}`,
  setDefaultModel: 'Set defaultModel in the system settings to a model that this provider has.',
  notCompatible: (url: string, cause: string) => `${url} is not the URL of an OpenAI-compatible service: ${cause}`,
  setAiAddress: 'Set AI_BASE_URL to the URL without /chat/completions; it often ends with /v1.',
  saveKeyAgain: (provider: string) => `Save the key of ${provider} again on the page /admin/providers.`,
  correctOrUnset: (variable: string) => `Correct ${variable}, or unset it.`,
  correctProviderAddress: (provider: string) => `Correct the address of ${provider} on the page /admin/providers.`,
  correctOrAllow: (variable: string) => `Correct ${variable}, or unset it, or allow the connection.`,
  correctProviderOrAllow: (provider: string) =>
    `Correct the address of ${provider} on the page /admin/providers, or allow the connection.`,
  providerKeyUnreadable: (provider: string) => `The key of ${provider} cannot be decrypted.`,
  addKeyOrSave: 'Add its key to ENCRYPTION_KEY, or save it again on the page /admin/providers.',
  keyInvalid: 'The key has invalid characters.',
  acceptsKey: (url: string) => `${url} answers and accepts the key`,
  answers: (url: string) => `${url} answers`,
  rejectsKey: (url: string, status: number) => `${url} rejects the key (${status}).`,
  unavailable: (url: string, status: number) => `${url} is unavailable (${status}).`,
  listsNoModels: (url: string, status: number) => `${url} lists no models (${status}).`,
  notAnthropic: (url: string, status: number) => `${url} is not the URL of the Anthropic Messages API (${status}).`,
  providerSilent: (url: string) => `${url} does not answer in time.`,

  sharedAddress:
    'TRUST_PROXY is false although BASE_URL is https: all clients have the address of the proxy and share one rate limit.',
  setTrustProxy: 'Set TRUST_PROXY to the address of the reverse proxy.',
  notCarillon: (url: string, status: number) => `${url} answers with ${status}, but not as Carillon does.`,
  pointProxy: 'Point the reverse proxy at the API, or correct BASE_URL.',
  otherVersion: (version: string, url: string, own: string) => `Version ${version} answers at ${url}, this is ${own}.`,
  restartProcesses: 'Restart the API processes.',
  versionAnswers: (url: string, version: string) => `${url} answers as version ${version}`,
  unreachableFromHere: (url: string, cause: string) => `${url} cannot be reached from here: ${cause}`,
  startProxy: 'Start the API and the reverse proxy, or correct BASE_URL.',
  apiClock: (seconds: string, isAhead: boolean) =>
    `The clock of the API is ${seconds} s ${isAhead ? 'ahead of' : 'behind'} this machine's.`,

  assistantsConnect: (url: string) => `claude.ai, ChatGPT and phones can connect to ${url}`,
  assistantsNeedPages: 'assistants connect with API keys only, because DASHBOARD is false',
  assistantsHere: (url: string) =>
    `assistants on your computers connect to ${url}; claude.ai, ChatGPT and phones need an https address that the internet reaches`,
  assistantsNeedHttps: (url: string) => `claude.ai, ChatGPT and phones do not connect to ${url} without https.`,
  useHttps: 'Put a reverse proxy with a certificate in front, and set BASE_URL to its https address.',
  assistantsNeedIpv4: (host: string) =>
    `${host} has addresses by IPv6 only, which the servers of assistants do not reach.`,
  addIpv4: 'Give the host an IPv4 address.',
  assistantsRedirected: (url: string) => `${url} redirects, and assistants drop their token on the way.`,
  setFinalAddress: 'Set BASE_URL to the address that the redirect leads to.',
  assistantsNotServed: (url: string) => `${url} does not have the document that assistants look for.`,
  passDocuments: 'Pass /.well-known/oauth-* on to the API, as docs/operating/reverse-proxy.md shows.',
};
