// Uses the embedded server in argv[2] until this process is killed.
import { startEmbeddedPostgres } from '@carillon/db/embedded/server';

const { url } = await startEmbeddedPostgres({ dataDir: process.argv[2] as string, durable: false });
console.log(url);
