import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { connect, settings } from '@carillon/db';
import { readSnapshot } from '@carillon/db/backup/snapshot';
import { sql } from 'drizzle-orm';
import { createBackup } from './archive/create.ts';
import { type AddCommand, CommandFailure, withConfig, withDatabase } from './command.ts';
import { formatBytes } from './formatting.ts';
import { startProgressBar } from './progress-bar.ts';

export const addBackupCommand: AddCommand = (program, context) => {
  const { commands: texts, help } = context.texts;
  program
    .command('backup')
    .summary(help.backup.summary)
    .description(help.backup.description)
    .argument('<file>', help.backup.file)
    .option('--json', help.json)
    .action((file: string, { json }: { json?: true }) =>
      withConfig(context, async (config) => {
        if (existsSync(file)) throw new CommandFailure(texts.exists(file));
        const progress = startProgressBar(texts.backingUp);
        try {
          const { header, manifest } = await withDatabase(config, async (url) => {
            const created = await readSnapshot(url, (snapshot) =>
              createBackup(file, snapshot, { config, progress, signal: context.signal, texts: context.texts }),
            );
            await recordBackup(url).catch(() => console.error(texts.notRecorded));
            return created;
          });
          progress.end();
          const { size } = await stat(file);
          const rows = Object.values(manifest.tables).reduce((sum, table) => sum + table.rows, 0);
          const { count, missing } = manifest.files;
          const { driver } = header.storage;
          if (json) {
            const summary = {
              file,
              size,
              rows,
              files: count,
              missingFiles: missing,
              storage: driver,
              schema: header.migration.tag,
              createdAt: header.createdAt,
            };
            return console.log(JSON.stringify(summary));
          }
          console.log(texts.backedUp(file, rows, header.tables.length, count, formatBytes(size)));
          if (missing > 0) console.log(texts.missingFiles(missing));
          if (driver === 's3') console.log(texts.bucketNotIncluded);
          console.log(texts.storeKey);
        } finally {
          progress.end();
        }
      }),
    );
};

/** Admins are notified when the last one is old. */
async function recordBackup(url: string): Promise<void> {
  const { db, close } = connect(url, { max: 1 });
  try {
    await db.update(settings).set({ lastBackupAt: sql`now()`, backupNoticedAt: null });
  } finally {
    await close();
  }
}
