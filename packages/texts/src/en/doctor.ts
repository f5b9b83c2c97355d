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
  },

  deliveriesOfFailed: (deliveries: number) => `Deliveries wait for webhooks that have failed: ${deliveries}.`,
  deliveriesOfOff: (days: number, deliveries: number) =>
    `Deliveries have waited for ${days} days for webhooks that are off: ${deliveries}.`,
  endDeliveries: 'Start an API process, which ends them, or run pnpm carillon prune.',

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
    'Start an API process, which makes it, or run pnpm carillon prune. If one runs, its log says which table is in use.',
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
};
