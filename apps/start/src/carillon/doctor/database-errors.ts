import {
  collectErrorCodes,
  describeCause,
  type Finding,
  findingsFor,
} from '@carillon/api/product/system/checks/finding';
import { CERTIFICATE_ERRORS, SQLSTATE } from '@carillon/db/errors';
import { PoolerError } from '@carillon/db/pool/pooling';

const { problem } = findingsFor('database');

export function explainDatabaseError(error: unknown): Finding {
  if (error instanceof PoolerError) return problem(error.message, 'See "Poolers" in docs/operating/postgresql.md.');
  const codes = collectErrorCodes(error);
  const cause = describeCause(error);
  const found = EXPLANATIONS.find(({ code, pattern }) => codes.includes(code) && (!pattern || pattern.test(cause)));
  const { message, fix } = found ?? UNKNOWN;
  return problem(`${message}: ${cause}`, fix);
}

interface Explanation {
  code: string;
  /** What the message of the error contains, where the code alone is ambiguous. */
  pattern?: RegExp;
  message: string;
  fix: string;
}

const UNKNOWN = { message: 'The database cannot be used', fix: 'Check DATABASE_URL and the log of the server.' };

const EXPLANATIONS: readonly Explanation[] = [
  {
    code: 'ECONNRESET',
    pattern: /before secure TLS connection/,
    message: 'The server does not support TLS',
    fix: 'Turn TLS on at the server (ssl = on), or remove sslmode from DATABASE_URL if the network is trusted.',
  },
  {
    code: SQLSTATE.invalidAuthorization,
    pattern: /no encryption|SSL off/,
    message: 'The server requires TLS',
    fix: 'Add sslmode=require to DATABASE_URL, or sslmode=verify-full with sslrootcert.',
  },
  ...CERTIFICATE_ERRORS.map((code) => ({
    code,
    message: 'The certificate of the server is not trusted',
    fix: 'Set sslrootcert in DATABASE_URL to the file of the CA certificate of this server.',
  })),
  {
    code: 'ERR_TLS_CERT_ALTNAME_INVALID',
    message: 'The certificate of the server is for another host',
    fix: 'Set the host in DATABASE_URL to a name in the certificate, or use sslmode=verify-ca.',
  },
  {
    code: 'CERT_HAS_EXPIRED',
    message: 'The certificate of the server has expired',
    fix: 'Renew the certificate at the server.',
  },
  {
    code: SQLSTATE.undefinedObject,
    pattern: /configuration parameter/,
    message: 'The server does not know a parameter of DATABASE_URL',
    fix: 'Remove this parameter from DATABASE_URL.',
  },
  {
    code: 'ECONNREFUSED',
    message: 'Nothing listens at the address of the database',
    fix: 'Start PostgreSQL, or correct the host and port in DATABASE_URL.',
  },
  { code: 'ENOTFOUND', message: 'The host of the database is unknown', fix: 'Correct the host in DATABASE_URL.' },
  {
    code: 'EAI_AGAIN',
    message: 'The host of the database is unknown',
    fix: 'Correct the host in DATABASE_URL, or repair name resolution.',
  },
  {
    code: SQLSTATE.invalidPassword,
    message: 'The database rejects the password',
    fix: 'Correct the user and the password in DATABASE_URL.',
  },
  {
    code: SQLSTATE.invalidAuthorization,
    message: 'The database rejects this user',
    fix: 'Correct the user in DATABASE_URL, or allow it in pg_hba.conf.',
  },
  {
    code: SQLSTATE.unknownDatabase,
    message: 'The database does not exist',
    fix: 'Create it, or correct its name in DATABASE_URL.',
  },
  {
    code: SQLSTATE.insufficientPrivilege,
    message: 'This user lacks a privilege',
    fix: 'Grant all privileges on the tables of the schemas public and drizzle, or make the user their owner.',
  },
  {
    code: SQLSTATE.cannotConnectNow,
    message: 'The database starts up or recovers',
    fix: 'Wait until it is ready: its log shows the progress.',
  },
  {
    code: SQLSTATE.tooManyConnections,
    message: 'The server has no connection left',
    fix: 'Raise max_connections, or lower DATABASE_POOL.',
  },
  {
    code: 'DATABASE_TIMEOUT',
    message: 'The database does not answer in time',
    fix: 'Check the network to the server, and its load.',
  },
];
