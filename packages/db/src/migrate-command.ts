import { migrateDatabase } from './migrate.ts';

const url = process.env.DATABASE_URL;
if (!url) {
  console.error('DATABASE_URL is not set: `pnpm start` and `pnpm api` migrate the embedded database by themselves.');
  process.exit(1);
}
await migrateDatabase(url);
console.log('The database has the newest schema.');
