import { SQLSTATE } from '@carillon/db/errors';
import { collectErrorCodes, describeCause, type Finding, findingsFor } from './finding.ts';

const { problem } = findingsFor('database');

export function explainDatabaseError(error: unknown): Finding {
  const codes = collectErrorCodes(error);
  const { message, fix } = EXPLANATIONS.find(({ code }) => codes.includes(code)) ?? UNKNOWN;
  return problem(`${message}: ${describeCause(error)}`, fix);
}

const UNKNOWN = { message: 'The database cannot be used', fix: 'Check DATABASE_URL and the log of the server.' };

const EXPLANATIONS: readonly { code: string; message: string; fix: string }[] = [
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
