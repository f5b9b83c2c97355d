import { formats } from './formats.ts';

const { count, number } = formats;

/** What commands on the terminal ask and report. */
export const commands = {
  stopped: 'Stopped.',
  noTables: 'The database has no tables yet: start Carillon first.',
  unreadable: (path: string, code: string) => `${path} cannot be read (${code}).`,
  portTaken: (port: number) => `Port ${port} is taken: stop the other program or set PORT.`,
  portClosed: (port: number) => `Port ${port} is not open to this user: set PORT to 1024 or above.`,
  hostUnusable: (host: string, code: string) => `HOST is ${host}, which this machine cannot listen at (${code}).`,
  databaseUnusable: (server: string, reason: string) =>
    `The database at ${server} cannot be used (${reason}): correct DATABASE_URL, or unset it for the embedded one.`,
  databasesUnusable: (server: string, direct: string, reason: string) =>
    `The database at ${server}, or at ${direct}, cannot be used (${reason}): correct DATABASE_URL or DATABASE_DIRECT_URL.`,
  folderUnusable: (error: string) => `${error}: DATA_DIR has to be a folder that this user can write into.`,

  admin: {
    created: (email: string) => `${email} now has an admin account.`,
    promoted: (email: string) => `${email} is now an admin; the password has not changed.`,
    unchanged: (email: string) => `${email} already was an admin.`,
  },
  generatedPassword: (password: string) => `The password, which is not shown again: ${password}`,
  deactivated: 'The account is deactivated: another admin can activate it.',
  emailProblem: (problem: string) => `The e-mail address ${problem}.`,
  passwordProblem: (problem: string) => `The password ${problem}.`,
  accountDeleted: 'The account was deleted during the request. Try again.',
  onePasswordOption: 'Use --password-file or --generate, not both.',
  noTerminal: 'Without a terminal to ask for the password, use --password-file or --generate.',
  password: 'Password',
  repeatPassword: 'Repeat the password',
  noPassword: 'No password was given: nothing was changed.',
  passwordsDiffer: 'The passwords differ: nothing was changed.',
  noPages: 'DASHBOARD=false leaves the pages out: use create-admin.',
  hasAccount: 'There is an account already: create-admin creates or promotes an admin.',

  upgradesTo: (version: string) => `This is version ${version}.`,
  createsTables: 'The database has no tables yet: the next start creates them.',
  keepsSchema: 'The database has the schema of this version: the next start changes nothing.',
  migrates: (from: string, migrations: string[]) =>
    `The database has the schema ${from}. The next start applies ${formats.list(migrations)}.`,
  newerSchema: (version: string) =>
    `The database belongs to a newer version of Carillon than ${version}: use that version.`,
  lastBackup: (at: string) => `Last backup: ${at}.`,
  noBackup: 'Last backup: none.',
  backUpFirst: 'Make a backup first: carillon backup <file>.',

  backingUp: 'Backing up',
  exists: (file: string) => `${file} already exists: choose another file.`,
  backedUp: (file: string, rows: number, tables: number, files: number, size: string) =>
    `${file}: ${count(rows, 'row', 'rows')} of ${count(tables, 'table', 'tables')} and ${count(files, 'file', 'files')}, ${size}.`,
  missingFiles: (files: number) => `Files not included because they no longer exist: ${number(files)}.`,
  bucketNotIncluded: 'Files in the bucket are not included: back up the bucket too.',
  storeKey: 'Secrets are encrypted: store ENCRYPTION_KEY, which is not included, elsewhere.',
  notRecorded:
    'The backup is complete, but its time could not be recorded: admins may be notified that the last one is old.',
  unwritable: (path: string, code: string) => `${path} cannot be written (${code}).`,
  newerDatabase: 'The database belongs to a newer version of Carillon: back it up with that version.',
  filesAdded: (files: number) => `${files} files`,
  notBackup: (path: string) => `${path} is not a backup of Carillon.`,
  truncated: (path: string, error: string) => `${path} is damaged or truncated (${error}): nothing was restored.`,
  otherFormat: (path: string, format: number, own: number) =>
    `${path} has the format ${format}, this version reads ${own}: use another version.`,
  damaged: (path: string, reason: string) => `${path} is damaged (${reason}): nothing was restored.`,
  damages: {
    tableOrder: (table: string) => `the table ${table} is out of place`,
    order: () => 'an entry is out of place',
    end: () => 'its end is missing',
    rest: () => 'something follows its end',
    table: (table: string) => `the table ${table} does not match the manifest`,
    header: () => 'the header does not match the manifest',
    files: () => 'the files do not match the manifest',
    size: () => 'an entry is too long',
    json: () => 'an entry is not JSON',
  },
  backupProblems: {
    notEmpty: (tables: string) =>
      `The database is not empty (${tables}): a backup can only be restored into an empty one.`,
    unknownColumn: (name: string) => `The backup is damaged: it contains ${name}, which its schema does not have.`,
    tooOld: (schema: string) =>
      `The backup is from before 0000_initial (its schema is ${schema}): restore it with its version, then upgrade.`,
    tooNew: (schema: string) =>
      `The backup is from a newer Carillon (its schema is ${schema}): restore it with that version.`,
    noTables: () => 'The database has no tables yet: there is nothing to back up.',
    migrated: () => 'The database was migrated during the backup. Run the backup again.',
  },
  needsDisk: 'The backup contains files of STORAGE_DRIVER=disk: set it here too.',
  restoring: 'Restoring',
  restored: (rows: number, files: number, moment: string) =>
    `Restored ${count(rows, 'row', 'rows')} and ${count(files, 'file', 'files')} as of ${moment}.`,
  missingKeys: (keys: string) =>
    `ENCRYPTION_KEY lacks the key ${keys} of the backup: secrets encrypted with it cannot be decrypted.`,
  filesInBucket: (url: string) => `the files are in the bucket at ${url} and not in the backup.`,
  filesMoved: (from: string, to: string) =>
    `files were served at ${from} and are now at ${to}: existing links have changed.`,
  warning: (text: string) => `Warning: ${text}`,

  keysOf: (user: string, keys: number) => `${user} has ${count(keys, 'API key', 'API keys')}.`,
  noExpiry: 'no expiry',
  expired: (moment: string) => `expired ${moment}`,
  expires: (moment: string) => `expires ${moment}`,
  neverUsed: 'never used',
  lastUsed: (moment: string) => `last used ${moment}`,
  idsOrAll: 'Give ids of keys, or --all.',
  notKeyId: (id: string) => `${id} is not the id of a key: see \`keys list\`.`,
  revoked: (key: string) => `Revoked ${key}`,
  noKeysLeft: (user: string) => `${user} has no API keys any more.`,
  noKey: (user: string, id: string) => `${user} has no API key ${id}.`,

  urlAndKey: 'Give --url and --key, or set CARILLON_URL and CARILLON_KEY.',
  notUrl: (url: string) => `${url} is not an address with http or https.`,
  notReached: (url: string, reason: string) => `${url} was not reached (${reason}).`,
  refused: (status: number, reason: string) => `Refused with ${status}: ${reason}`,
  nextRun: (name: string, moment: string) => `${name}, next run ${moment}`,
  imported: ({
    created,
    updated,
    unchanged,
    deleted,
  }: Record<'created' | 'updated' | 'unchanged' | 'deleted', number>) =>
    `Created: ${number(created)}, changed: ${number(updated)}, unchanged: ${number(unchanged)}, deleted: ${number(deleted)}.`,
  wouldImport: ({
    created,
    updated,
    unchanged,
    deleted,
  }: Record<'created' | 'updated' | 'unchanged' | 'deleted', number>) =>
    `To create: ${number(created)}, to change: ${number(updated)}, unchanged: ${number(unchanged)}, to delete: ${number(deleted)}.`,

  pruning: 'Pruning',
  prunedKinds: {
    executions: 'executions',
    occurrences: 'occurrences',
    'open deliveries': 'open deliveries',
    deliveries: 'deliveries',
    events: 'events',
    alerts: 'alerts',
    notifications: 'notifications',
    'audit entries': 'audit entries',
    'usage records': 'usage records',
    'usage counters': 'usage counters',
    files: 'files',
    'rate-limit windows': 'rate-limit windows',
    'rejected requests': 'rejected requests',
    sessions: 'sessions',
    'reset tokens': 'reset tokens',
    mails: 'mails',
    'idempotency keys': 'idempotency keys',
    proposals: 'proposals',
    'sign-in tickets': 'sign-in tickets',
    'passkey challenges': 'passkey challenges',
    'unconfirmed factors': 'unconfirmed factors',
    'assistant tokens': 'tokens of connected apps',
    'assistant programs': 'programs without a connection',
  },
  pruned: (kind: string, rows: number) => `Deleted ${kind}: ${rows}`,
  ended: (kind: string, rows: number) => `Ended ${kind}: ${rows}`,
  deletedObjects: (objects: number) => `Deleted ${count(objects, 'object', 'objects')} of deleted uploads`,
  withoutUpload: 'files without an upload',
  deletedOrphans: (files: number) => `Deleted ${count(files, 'file', 'files')} without an upload`,
  otherFiles: (folder: string, files: number) =>
    `${folder} contains old files (${files}), none of them known to this database. They may belong to another installation and were not deleted.`,

  usageDiffers: (user: number, period: string, differences: string) => `User ${user}, ${period}: ${differences}`,
  uploads: 'uploads',
  tasksDiffer: (user: number, differences: string) => `User ${user}: tasks ${differences}`,
  insteadOf: (counted: number | string, expected: number | string) => `${counted} instead of ${expected}`,
  countersMatch: 'All usage counters match the ledger.',
  countersDiffer: (counters: number) => `Usage counters that differ from the ledger: ${number(counters)}.`,
  totalsMatch: 'All storage totals match the uploads.',
  totalsDiffer: (totals: number) => `Storage totals that differ from the uploads: ${number(totals)}.`,
  countsMatch: 'All task counts match the tasks.',
  countsDiffer: (counts: number) => `Task counts that differ from the tasks: ${number(counts)}.`,

  reencrypted: (column: string, secrets: number, key: string) =>
    `${column}: ${secrets} encrypted again with the key "${key}"`,
  undecryptable: (secrets: number) => `Secrets that no key of ENCRYPTION_KEY decrypts: ${number(secrets)}.`,
  secretsChanged: (secrets: number) => `Secrets that changed during the command: ${number(secrets)}. Run it again.`,
  secretsDone: (key: string) =>
    `Every secret is encrypted with the key "${key}". Other keys can be removed from ENCRYPTION_KEY.`,

  factorsRemoved: (email: string, factors: number) =>
    `Second factors of ${email} removed: ${factors}. All its sessions have ended.`,
  noSuchAccount: 'No account has this e-mail address.',
  noAccount: (email: string) => `No account has the address ${email}.`,
};
