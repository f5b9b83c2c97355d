import { chmodSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { startEmbeddedPostgres } from '@carillon/db/embedded';
import t from 'tap';
import { folder, start } from './servers.ts';

const skip = process.getuid?.() === 0 ? false : 'only root runs the server as another user';

t.test('root runs the server as the user postgres', { skip }, async (t) => {
  const dataDir = folder(t);
  await start(t, dataDir);
  t.not(statSync(join(dataDir, 'postgres/data/postmaster.pid')).uid, 0);
});

t.test('root is told in one line when that user cannot reach the folder', { skip }, async (t) => {
  const dataDir = folder(t);
  const closed = dirname(dataDir);
  chmodSync(closed, 0o700);
  await t.rejects(startEmbeddedPostgres({ dataDir }), {
    message: `PostgreSQL does not run as root, and the user it runs as cannot write into ${dataDir}, as ${closed} is closed to it: set DATA_DIR to a folder that it can reach, e.g. /var/lib/carillon, or set DATABASE_URL to a PostgreSQL of your own, or run Carillon as an ordinary user.`,
  });
});
