import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { connect, settings } from '@carillon/db';
import { readSnapshot } from '@carillon/db/backup/snapshot';
import { sql } from 'drizzle-orm';
import { createBackup } from './archive/create.ts';
import { type AddCommand, CommandFailure, withConfig, withDatabase } from './command.ts';
import { formatBytes, joinParagraphLines } from './formatting.ts';
import { startProgressBar } from './progress-bar.ts';

const DESCRIPTION = `Writes the database and the files on disk to one archive.

The archive contains the whole database at one instant, except for the counters of rate limits, and the files of
STORAGE_DRIVER=disk. The service can run at the same time. Files in a bucket (s3) are not included: back up the bucket itself. No
other program is needed, and memory use does not depend on the amount of data.

The archive is a tar file compressed with Zstandard that only its owner can read. Secrets in it stay encrypted: store
ENCRYPTION_KEY elsewhere, because they cannot be decrypted without it, and JWT_SECRET, because all sessions end without it.`;

export const addBackupCommand: AddCommand = (program, context) => {
  const texts = context.texts.commands;
  program
    .command('backup')
    .summary('write the database and the files on disk to one archive')
    .description(joinParagraphLines(DESCRIPTION))
    .argument('<file>', 'the archive, such as carillon-2026-11-20.tar.zst; it must not exist')
    .option('--json', 'print the result as JSON')
    .action((file: string, { json }: { json?: true }) =>
      withConfig(context, async (config) => {
        if (existsSync(file)) throw new CommandFailure(texts.exists(file));
        const progress = startProgressBar(texts.backingUp);
        try {
          const { header, manifest } = await withDatabase(config, async (url) => {
            const created = await readSnapshot(url, (snapshot) =>
              createBackup(file, snapshot, { config, progress, signal: context.signal }),
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
