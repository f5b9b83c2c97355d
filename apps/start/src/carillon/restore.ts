import { stat } from 'node:fs/promises';
import type { Config } from '@carillon/api/config/config';
import { fillEmptyDatabase } from '@carillon/db/backup/restore';
import { applyArchive } from './archive/apply.ts';
import { receiveFiles } from './archive/files.ts';
import type { Header, Manifest } from './archive/format.ts';
import { missingKeys } from './archive/keys.ts';
import { readArchive } from './archive/read.ts';
import { type AddCommand, CommandFailure, type Surroundings, withConfig, withDatabase } from './command.ts';
import { type Progress, startProgress } from './progress.ts';
import { verifyUsage } from './usage-verify.ts';
import { inParagraphs } from './wording.ts';

const ABOUT = `The database has to be empty, without tables: a new one, or with the embedded PostgreSQL a DATA_DIR of its own. Carillon
must not run on it yet; what is started meanwhile waits. A backup of an older version is brought to the schema of this one.

All of it is restored or nothing: an archive that is damaged or cut off is refused and leaves the database empty. What ran
when the backup was taken is taken over as after a crash. Give the same ENCRYPTION_KEY as before, and the same JWT_SECRET,
or everybody has to sign in again.`;

/** `pnpm carillon restore <file>`. */
export const restoreCommand: AddCommand = (program, surroundings) => {
  program
    .command('restore')
    .summary('fill an empty installation with a backup')
    .description(inParagraphs(`Fills an empty installation with what \`backup\` wrote.\n\n${ABOUT}`))
    .argument('<file>', 'the archive')
    .option('--json', 'tell what was restored as JSON')
    .action((file: string, { json }: { json?: true }) =>
      withConfig(surroundings, (config) =>
        withDatabase(config, async (url) => {
          const restored = await restore(surroundings, { config, url, file });
          const rows = Object.values(restored.manifest.tables).reduce((sum, table) => sum + table.rows, 0);
          const files = restored.manifest.files.count;
          if (json) {
            const { createdAt, migration } = restored.header;
            console.log(JSON.stringify({ rows, files, createdAt, schema: migration.tag, warnings: restored.warnings }));
          } else {
            console.log(`Restored ${rows} rows and ${files} files, as they were at ${restored.header.createdAt}.`);
            for (const warning of restored.warnings) console.log(`Warning: ${warning}`);
          }
          const say = json ? () => {} : console.log;
          if (!(await verifyUsage(url, say))) surroundings.endWith(1);
        }),
      ),
    );
};

interface Place {
  config: Config;
  url: string;
  file: string;
}

async function restore({ signal }: Surroundings, { config, url, file }: Place) {
  const whole = await stat(file).catch(({ code }) => {
    throw new CommandFailure(`${file} cannot be read (${code}).`);
  });
  const progress = startProgress('Restoring');
  const files = config.storage.driver === 'disk' ? await receiveFiles(config.storage.folder) : null;
  let restored: Manifest | undefined;
  let header: Header | undefined;
  try {
    await fillEmptyDatabase(url, async (target) => {
      const entries = readArchive(file, { signal, onRead: (bytes) => show(progress, bytes, whole.size) });
      try {
        restored = await applyArchive(file, entries, {
          target,
          files,
          onHeader: async (found) => {
            header = found;
            if (found.storage.driver !== 'disk' || files) return;
            throw new CommandFailure('The backup has files of STORAGE_DRIVER=disk: set it here, too.');
          },
        });
      } finally {
        await entries.return(undefined);
      }
      await target.setSequences(restored.sequences);
      await target.upgrade();
      await target.endLeases();
      // Before the rows that name them: files that no row names are harmless, and pruned.
      await files?.settle();
    });
  } finally {
    progress.end();
    await files?.discard();
  }
  if (!header || !restored) throw new CommandFailure(`${file} is no backup of Carillon.`);
  return { header, manifest: restored, warnings: warningsOf(header, config) };
}

const show = (progress: Progress, bytes: number, whole: number) => progress.show(bytes, whole, '');

function warningsOf(header: Header, { encryptionKeys, storage }: Config): string[] {
  const warnings: string[] = [];
  const keys = missingKeys(encryptionKeys, header.keys);
  if (keys.length > 0) {
    const names = keys.map((id) => JSON.stringify(id)).join(', ');
    warnings.push(
      `ENCRYPTION_KEY is without the key ${names} of the backup: what is sealed under it cannot be opened.`,
    );
  }
  const url = storage.driver === 'base64' ? null : storage.url;
  if (header.storage.driver === 's3') {
    warnings.push(`the files are in the bucket at ${header.storage.url}: the backup does not hold them.`);
  } else if (header.storage.url !== null && header.storage.url !== url) {
    warnings.push(
      `files were reached at ${header.storage.url} and are now at ${url}: links that were handed out differ.`,
    );
  }
  return warnings;
}
