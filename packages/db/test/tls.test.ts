import { join } from 'node:path';
import { sql } from 'drizzle-orm';
import t from 'tap';
import { readSnapshot } from '../src/backup/snapshot.ts';
import { connect, queryRows } from '../src/index.ts';
import { migrateDatabase } from '../src/migrate.ts';
import { describeTemporaryOutage } from '../src/temporary-outage.ts';
import { testDatabase } from '../src/test-database.ts';
import { refused } from './refused.ts';
import { folder } from './servers.ts';
import { startTlsServer } from './tls-server.ts';

const server = await startTlsServer(t);
const { caFile, otherCaFile } = server;
const isEncrypted = sql`select ssl from pg_stat_ssl where pid = pg_backend_pid()`;

const withParameters = (parameters: string, hostname = 'localhost') =>
  `${Object.assign(new URL(server.url), { hostname }).href}?${parameters}`;

/** Whether a connection is encrypted; its error if there is none. */
async function tryConnect(url: string): Promise<boolean | string> {
  const { db, close } = connect(url, { max: 1 });
  try {
    const [row] = await queryRows<{ ssl: boolean }>(db, isEncrypted);
    return row?.ssl ?? false;
  } catch (error) {
    const { cause } = error as { cause?: { code?: string; cause?: { code?: string } } };
    return cause?.cause?.code ?? cause?.code ?? String(error);
  } finally {
    await close();
  }
}

/** Parameters with the outcome at the host names `localhost`, which the certificate has, and 127.0.0.1. */
const MODES: [parameters: string, byName: boolean | string, byAddress: boolean | string][] = [
  ['', false, false],
  ['sslmode=disable', false, false],
  ['sslmode=prefer', true, true],
  ['sslmode=require', true, true],
  [`sslmode=require&sslrootcert=${caFile}`, true, true],
  [`sslmode=require&sslrootcert=${otherCaFile}`, 'UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
  [`sslmode=verify-ca&sslrootcert=${caFile}`, true, true],
  [
    `sslmode=verify-ca&sslrootcert=${otherCaFile}`,
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  ],
  [`sslmode=verify-full&sslrootcert=${caFile}`, true, 'ERR_TLS_CERT_ALTNAME_INVALID'],
  [`sslrootcert=${caFile}`, true, 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ['sslmode=verify-full', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
  ['sslmode=verify-full&sslrootcert=system', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
];

for (const [parameters, byName, byAddress] of MODES) {
  t.test(
    `The pool connects with "${parameters.replace(/sslrootcert=\/.*\//, 'sslrootcert=')}" as libpq does`,
    async (t) => {
      t.equal(await tryConnect(withParameters(parameters)), byName, 'localhost');
      t.equal(await tryConnect(withParameters(parameters, '127.0.0.1')), byAddress, '127.0.0.1');
    },
  );
}

t.test('Migrations and backups use the CA file as well', async (t) => {
  await server.requireTls();
  const trusted = withParameters(`sslmode=verify-full&sslrootcert=${caFile}`);
  await migrateDatabase(trusted);
  t.ok((await readSnapshot(trusted, async ({ tables }) => tables)).length > 0);
  const untrusted = withParameters(`sslmode=verify-full&sslrootcert=${otherCaFile}`);
  for (const use of [migrateDatabase, (url: string) => readSnapshot(url, async () => {})]) {
    t.match((await refused(use(untrusted))).error, { code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' });
  }
  t.match(await tryConnect(withParameters('sslmode=disable')), '28000');
});

t.test('A server that does not support TLS is named as such', async (t) => {
  const { url } = await testDatabase(t);
  const { error } = await refused(migrateDatabase(`${url}?sslmode=require`));
  t.equal(describeTemporaryOutage(error), 'it closes connections before TLS, which it may not support (ECONNRESET)');
});

t.test('An unusable CA file is named without a connection', (t) => {
  const missing = join(folder(t), 'none.crt');
  t.throws(() => connect(withParameters(`sslmode=verify-full&sslrootcert=${missing}`)), {
    message: `DATABASE_URL names ${missing} as sslrootcert, which cannot be read.`,
  });
  t.throws(() => connect(withParameters(`sslmode=verify-full&sslrootcert=${import.meta.filename}`)), {
    message: /^DATABASE_URL names .*tls\.test\.ts as sslrootcert, which is not a PEM file of certificates\.$/,
  });
  t.end();
});
