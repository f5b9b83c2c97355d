import { VERSION } from '@carillon/api/lib/config/config';
import { findPrimary } from '@carillon/db/find-primary';
import { findNewestApplied, isBeforeFirst, readJournal, SchemaTooOldError } from '@carillon/db/journal';
import { openSingleConnection } from '@carillon/db/open-postgres';
import { type AddCommand, CommandFailure, withConfig, withDatabase } from './command.ts';

const HOUR_MS = 3_600_000;
/** A daily backup, with the time that it takes and the spread of its timer. */
const MAX_BACKUP_AGE_MS = 26 * HOUR_MS;

interface Schema {
  /** The newest migration of the database; null without tables. */
  tag: string | null;
  /** Those that the next start applies. */
  migrations: string[];
  lastBackupAt: Date | null;
}

export const addUpgradeCommand: AddCommand = (program, context) => {
  const { commands: texts, help } = context.texts;
  program
    .command('upgrade')
    .summary(help.upgrade.summary)
    .description(help.upgrade.description)
    .requiredOption('--check', help.upgrade.check)
    .option('--json', help.json)
    .action(({ json }: { json?: true }) =>
      withConfig(context, (config) =>
        withDatabase(config, async (url) => {
          const { tag, migrations, lastBackupAt } = await readSchema(url);
          if (tag === '') throw new CommandFailure(texts.newerSchema(VERSION));
          const changes = tag !== null && migrations.length > 0;
          const hasBackup = lastBackupAt !== null && Date.now() - lastBackupAt.getTime() <= MAX_BACKUP_AGE_MS;
          const ready = hasBackup || !changes;
          if (!ready) context.setExitCode(1);
          if (json) {
            return console.log(JSON.stringify({ version: VERSION, schema: tag, migrations, lastBackupAt, ready }));
          }
          console.log(texts.upgradesTo(VERSION));
          console.log(
            tag === null ? texts.createsTables : changes ? texts.migrates(tag, migrations) : texts.keepsSchema,
          );
          console.log(lastBackupAt ? texts.lastBackup(lastBackupAt.toISOString()) : texts.noBackup);
          if (!ready) console.log(texts.backUpFirst);
        }),
      ),
    );
};

async function readSchema(url: string): Promise<Schema> {
  const client = openSingleConnection(await findPrimary(url));
  try {
    const newest = await findNewestApplied(client);
    if (newest && isBeforeFirst(newest)) throw new SchemaTooOldError();
    const migrations = readJournal()
      .entries.filter(({ when }) => when > (newest?.when ?? 0))
      .map(({ tag }) => tag);
    // Earlier schemas have no such column.
    const [row] = newest ? await client`select to_jsonb(settings) ->> 'last_backup_at' as at from settings` : [];
    return { tag: newest?.tag ?? null, migrations, lastBackupAt: row?.at ? new Date(row.at) : null };
  } finally {
    await client.end();
  }
}
