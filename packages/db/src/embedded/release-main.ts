import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { startEmbeddedPostgres } from './server.ts';

const dataDir = process.argv[2] as string;
// Without a server there is nothing to stop, and starting one would fill a folder that was deleted.
if (existsSync(join(dataDir, 'postgres/data/postmaster.pid'))) {
  // A user that leaves: the last one stops the server.
  const { stop } = await startEmbeddedPostgres({ dataDir });
  await stop();
}
