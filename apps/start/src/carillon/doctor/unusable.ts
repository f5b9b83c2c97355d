import { SQLSTATE } from '@carillon/db/errors';
import { codesOf, type Finding, findingsOf, messageOf } from './finding.ts';

const { fault } = findingsOf('database');

/** What to say of a database that does not answer, by the code of the error. */
export function unusable(error: unknown): Finding {
  const said = messageOf(error);
  const codes = codesOf(error);
  const [, lead, mend] = UNUSABLE.find(([code]) => codes.includes(code)) ?? [
    '',
    'The database cannot be used',
    'Look at DATABASE_URL and at the log of the server.',
  ];
  return fault(`${lead}: ${said}`, mend);
}

const UNUSABLE: readonly (readonly [string, string, string])[] = [
  [
    'ECONNREFUSED',
    'Nobody listens at the address of the database',
    'Start PostgreSQL, or correct the host and port in DATABASE_URL.',
  ],
  ['ENOTFOUND', 'The host of the database is unknown', 'Correct the host in DATABASE_URL.'],
  ['EAI_AGAIN', 'The host of the database is unknown', 'Correct the host in DATABASE_URL, or mend the name server.'],
  [SQLSTATE.invalidPassword, 'The database refuses the password', 'Correct the user and the password in DATABASE_URL.'],
  [
    SQLSTATE.invalidAuthorization,
    'The database does not let this user in',
    'Correct the user in DATABASE_URL, or allow it in pg_hba.conf.',
  ],
  [SQLSTATE.unknownDatabase, 'There is no such database', 'Create it, or correct its name in DATABASE_URL.'],
  [
    SQLSTATE.insufficientPrivilege,
    'This user may not read what it has to',
    'Grant all privileges on the tables of the schemas public and drizzle, or make the user their owner.',
  ],
  [SQLSTATE.tooManyConnections, 'The server has no connection left', 'Raise max_connections, or lower DATABASE_POOL.'],
  [
    'DATABASE_TIMEOUT',
    'The database does not answer in time',
    'Look at the network between the two, and at the load of the server.',
  ],
];
