// A process of its own that uses the embedded server of argv[2] until it is killed.
import { startEmbeddedPostgres } from '@carillon/db/embedded/server';

const { url } = await startEmbeddedPostgres({ dataDir: process.argv[2] as string, durable: false });
console.log(url);
