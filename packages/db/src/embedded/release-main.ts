import { startEmbeddedPostgres } from './server.ts';

// A user that leaves: the last one stops the server.
const { stop } = await startEmbeddedPostgres({ dataDir: process.argv[2] as string });
await stop();
