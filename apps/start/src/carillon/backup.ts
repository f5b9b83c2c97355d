import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { readSnapshot } from '@carillon/db/backup/snapshot';
import { takeBackup } from './archive/take.ts';
import { type AddCommand, CommandFailure, withConfig, withDatabase } from './command.ts';
import { startProgress } from './progress.ts';
import { inBytes, inParagraphs } from './wording.ts';

const ABOUT = `Everything that the database holds goes into it, as of one instant, while the service works: only the counters of
rate limits stay behind. So do the files of STORAGE_DRIVER=disk. Files in a bucket (s3) are backed up by the bucket's own
means. Nothing but Carillon is needed for it, and memory does not grow with what there is.

The archive is a tar compressed by Zstandard, readable by its owner alone. Secrets in it stay sealed: keep ENCRYPTION_KEY
somewhere else, for without it nobody can open them, and JWT_SECRET, without which everybody has to sign in again.`;

/** `pnpm carillon backup <file>`. */
export const backupCommand: AddCommand = (program, surroundings) => {
  program
    .command('backup')
    .summary('write the database and the files on disk to one archive')
    .description(inParagraphs(`Writes the database and the files on disk to one archive.\n\n${ABOUT}`))
    .argument('<file>', 'where to, such as carillon-2026-11-20.tar.zst; there may be nothing yet')
    .option('--json', 'tell what was written as JSON')
    .action((file: string, { json }: { json?: true }) =>
      withConfig(surroundings, async (config) => {
        if (existsSync(file)) throw new CommandFailure(`${file} is there already: name another file.`);
        const progress = startProgress('Backing up');
        try {
          const { header, manifest } = await withDatabase(config, (url) =>
            readSnapshot(url, (snapshot) =>
              takeBackup(file, snapshot, { config, progress, signal: surroundings.signal }),
            ),
          );
          progress.end();
          const { size } = await stat(file);
          const rows = Object.values(manifest.tables).reduce((sum, table) => sum + table.rows, 0);
          const { count, missing } = manifest.files;
          if (json) {
            const { driver } = header.storage;
            const summary = { file, size, rows, files: count, missingFiles: missing, storage: driver };
            return console.log(
              JSON.stringify({ ...summary, schema: header.migration.tag, createdAt: header.createdAt }),
            );
          }
          console.log(`${file}: ${rows} rows of ${header.tables.length} tables and ${count} files, ${inBytes(size)}.`);
          if (missing > 0)
            console.log(`${missing} files were deleted meanwhile, or had gone before, and are not in it.`);
          if (header.storage.driver === 's3') console.log('The files in the bucket are not in it: back that up, too.');
          console.log('Its secrets are sealed: keep ENCRYPTION_KEY, which is not in it, somewhere else.');
        } finally {
          progress.end();
        }
      }),
    );
};
