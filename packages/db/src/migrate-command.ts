import { describeServers } from './database-url.ts';
import { findConnectFailure } from './errors.ts';
import { SchemaTooOldError } from './journal.ts';
import { migrateDatabase } from './migrate.ts';
import { describeTemporaryOutage } from './temporary-outage.ts';

const url = process.env.DATABASE_DIRECT_URL || process.env.DATABASE_URL;
if (!url) {
  console.error('DATABASE_URL is not set: `pnpm start` and `pnpm api` migrate the embedded database by themselves.');
  process.exit(1);
}
try {
  await migrateDatabase(url);
  console.log('The database has the newest schema.');
} catch (error) {
  const reason =
    describeTemporaryOutage(error) ??
    (error instanceof SchemaTooOldError ? error : findConnectFailure(error as Error))?.message;
  console.error(
    reason === undefined ? error : `The database at ${describeServers(url)} cannot be migrated: ${reason}.`,
  );
  process.exitCode = 1;
}
