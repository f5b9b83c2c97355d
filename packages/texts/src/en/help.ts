/** The help of the commands on the terminal. */
export const help = {
  program: 'Runs and repairs an installation of Carillon. Settings come from the environment and from .env.',
  seeHelp: 'Add --help for usage.',
  titles: { 'Usage:': 'Usage:', 'Arguments:': 'Arguments:', 'Options:': 'Options:', 'Commands:': 'Commands:' },
  defaultValue: (value: string) => `(default: ${value})`,
  version: 'output the version number',
  helpOption: 'display help for command',
  json: 'print the result as JSON',

  data: 'the folder of the data, instead of DATA_DIR or .data',
  dataTakes: 'It takes a folder.',
  processes: {
    start: {
      summary: 'run everything in one process',
      description: 'Runs the API, the scheduler and, without DATABASE_URL, PostgreSQL, until a signal stops it.',
    },
    api: { summary: 'run the API', description: 'Runs one process of the API, until a signal stops it.' },
    scheduler: {
      summary: 'run the scheduler',
      description: 'Runs the scheduler, which calls the API at API_URL when something is due, until a signal stops it.',
    },
    demo: {
      summary: 'show the main uses, step by step',
      description:
        'Shows the main uses, step by step, with the service at PORT or, without one, with its own in a temporary folder.',
    },
  },

  doctor: {
    summary: 'find problems of this installation',
    description: `Finds problems of this installation and says how to fix them.

Checks each setting, the strength of the secrets, the database (connection, version, privileges, schema, clock, number of connections), whether ENCRYPTION_KEY decrypts the secrets in it, the scheduler, waiting deliveries, the AI provider (one small call), the mail server (log-in, no mail), the file storage (one small object, which is deleted again), DATA_DIR, and whether clients reach this version at BASE_URL. It changes nothing, and can be run before the first start as well as while the service runs.

Each result is ok, a warning or a problem. The exit code is 1 if there is a problem.`,
    processes: 'how many API processes share the database',
    processesRange: 'It takes a whole number from 1 to 9999.',
    json: 'print the results as JSON',
  },
  createAdmin: {
    summary: 'create an admin account, or promote an existing one',
    description:
      'Creates an admin account. An existing account is promoted: it keeps its password and has to sign in again. Without an option the command asks for the password, which needs at least 8 characters with an upper-case letter, a lower-case letter and a digit. The database must have its tables: start Carillon once before. The audit log records it.',
    email: 'the e-mail address that the admin signs in with',
    name: 'the name of the new account',
    passwordFile: 'read the password of the new account from a file',
    generate: 'generate a password for the new account and print it',
  },
  resetFactors: {
    summary: 'remove the second factors of an account',
    description:
      'Deletes the second factors and the recovery codes of an account, for a person who has lost them, and ends its sessions and unfinished sign-ins. The password stays. Make sure first that the account is theirs. The account gets a mail, and the audit log records it.',
    email: 'the e-mail address of the account',
  },
  setupLink: {
    summary: 'print a link to a page that creates the first admin',
    description:
      'Prints the address of a page that makes the first admin account. It works for an hour, and only while there is no account.',
  },
  backup: {
    summary: 'write the database and the files on disk to one archive',
    description: `Writes the database and the files on disk to one archive.

The archive contains the whole database at one instant, except for the counters of rate limits, and the files of STORAGE_DRIVER=disk. The service can run at the same time. Files in a bucket (s3) are not included: back up the bucket itself. No other program is needed, and memory use does not depend on the amount of data.

The archive is a tar file compressed with Zstandard that only its owner can read. Secrets in it stay encrypted: store ENCRYPTION_KEY elsewhere, because they cannot be decrypted without it, and JWT_SECRET, because all sessions end without it.`,
    file: 'the archive, such as carillon-2026-11-20.tar.zst; it must not exist',
  },
  restore: {
    summary: 'restore a backup into an empty installation',
    description: `Restores a backup into an empty installation.

The database must be empty, without tables: a new one or, with the embedded PostgreSQL, another DATA_DIR. Carillon must not run on it; a process that starts during the restore waits. A backup of an older version is migrated to the current schema.

Either everything is restored or nothing: a damaged or truncated archive is rejected and leaves the database empty. Work that ran during the backup is taken over as after a crash. Set the ENCRYPTION_KEY of the backup, and its JWT_SECRET to keep sessions.`,
    file: 'the archive',
  },
  upgrade: {
    summary: 'show what an upgrade to this version would change',
    description:
      'Shows which migrations the next start of this version applies to the database, and when the last backup was made. It changes nothing. The exit code is 1 if there are migrations and no backup of the last day, or if the database belongs to a newer version.',
    check: 'change nothing; the next start upgrades',
  },
  keys: {
    summary: 'list and revoke the API keys of a user',
    description: 'Commands for the API keys of a user.',
    user: 'e-mail address of the account',
  },
  listKeys: {
    summary: 'list the API keys of a user',
    description: 'Lists the API keys of a user, newest first, those that have expired too.',
    json: 'print the keys as JSON',
  },
  revokeKeys: {
    summary: 'delete API keys of a user',
    description: 'Deletes API keys of a user. Requests with them are 401 from now on, at every process.',
    ids: 'ids of the keys, as `keys list` prints them',
    all: 'delete all keys of the account',
  },
  tasks: {
    summary: 'export and import the tasks of an account as a file',
    description:
      'Commands for the tasks of an account as a file in YAML, or in JSONL if its name ends with .jsonl. They call a running Carillon with an API key that has the scopes tasks:read and tasks:write. The exit code is 0 if it is done, or if nothing differs, 1 if something differs, was refused or failed, and 2 for invalid arguments.',
    file: 'the file; - is the standard input or output',
    url: 'address of Carillon; default: CARILLON_URL',
    key: 'API key; default: CARILLON_KEY, which no list of processes shows',
    prune: 'also delete tasks of earlier imports that the file lacks',
  },
  taskFiles: {
    export: { summary: 'write the tasks to a file', description: 'Writes all tasks of the account, oldest first.' },
    diff: {
      summary: 'compare a file with the tasks',
      description: 'Checks a file and says what apply would do. It changes nothing.',
    },
    apply: {
      summary: 'make the tasks those of a file',
      description: 'Creates and changes tasks so that they are as the file says: all of them, or none.',
    },
  },
  prune: {
    summary: 'delete data older than the retention settings',
    description:
      'Deletes immediately what the service prunes in batches: data older than the retention settings, expired sessions and limits, files of deleted uploads. Ends deliveries that wait for failed webhooks. Then deletes files from the storage on disk that belong to no upload and are older than a day, which a restore or a crash may leave. The service can run at the same time.',
  },
  usage: {
    summary: 'verify the counters of quotas',
    description: 'Commands for the usage of quotas.',
  },
  verifyUsage: {
    summary: 'compare the counters with the ledger, the uploads and the tasks',
    description:
      'Adds up the usage ledger and the uploads, counts the tasks, and compares the results with the counters of quotas and lists. It changes nothing; the service can run at the same time. The exit code is 0 if they match, 1 if they differ, and 2 for a failure.',
  },
  secrets: {
    summary: 'rotate the encryption key of the secrets in the database',
    description: 'Commands for the encrypted secrets in the database.',
  },
  rotateSecrets: {
    summary: 'encrypt every secret with the first key of ENCRYPTION_KEY',
    description:
      'Encrypts every secret in the database with the first key of ENCRYPTION_KEY. The service can run at the same time. The exit code is 0 if the other keys can be removed, 1 if one of them is still needed, and 2 for a failure.',
  },
};
