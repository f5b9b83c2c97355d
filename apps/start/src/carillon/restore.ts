import { stat } from 'node:fs/promises';
import type { Config } from '@carillon/api/lib/config/config';
import { fillEmptyDatabase } from '@carillon/db/backup/restore';
import type { Texts } from '@carillon/texts';
import type { Header, Manifest } from './archive/format.ts';
import { findMissingKeys } from './archive/key-fingerprints.ts';
import { readArchive } from './archive/read.ts';
import { restoreArchive } from './archive/restore.ts';
import { stageFiles } from './archive/staged-files.ts';
import { type AddCommand, type CommandContext, CommandFailure, withConfig, withDatabase } from './command.ts';
import { startProgressBar } from './progress-bar.ts';
import { verifyUsage } from './usage-verify.ts';

export const addRestoreCommand: AddCommand = (program, context) => {
  const { commands: texts, help } = context.texts;
  program
    .command('restore')
    .summary(help.restore.summary)
    .description(help.restore.description)
    .argument('<file>', help.restore.file)
    .option('--json', help.json)
    .action((file: string, { json }: { json?: true }) =>
      withConfig(context, (config) =>
        withDatabase(config, async (url) => {
          const { header, manifest, warnings } = await restore(context, { config, url, file });
          const rows = Object.values(manifest.tables).reduce((sum, table) => sum + table.rows, 0);
          const files = manifest.files.count;
          const { createdAt, migration } = header;
          if (json) console.log(JSON.stringify({ rows, files, createdAt, schema: migration.tag, warnings }));
          else {
            console.log(texts.restored(rows, files, createdAt));
            for (const warning of warnings) console.log(texts.warning(warning));
          }
          const print = json ? () => {} : console.log;
          if (!(await verifyUsage(url, context.texts, print))) context.setExitCode(1);
        }),
      ),
    );
};

interface RestoreOptions {
  config: Config;
  url: string;
  file: string;
}

async function restore({ signal, texts }: CommandContext, { config, url, file }: RestoreOptions) {
  const { size } = await stat(file).catch(({ code }) => {
    throw new CommandFailure(texts.commands.unreadable(file, String(code)));
  });
  const progress = startProgressBar(texts.commands.restoring);
  const files = config.storage.driver === 'disk' ? await stageFiles(config.storage.folder) : null;
  let manifest: Manifest | undefined;
  let header: Header | undefined;
  try {
    await fillEmptyDatabase(url, async (target) => {
      const entries = readArchive(file, { signal, texts, onRead: (bytes) => progress.show(bytes, size, '') });
      try {
        manifest = await restoreArchive(file, entries, {
          target,
          files,
          texts,
          onHeader: async (found) => {
            header = found;
            if (found.storage.driver !== 'disk' || files) return;
            throw new CommandFailure(texts.commands.needsDisk);
          },
        });
      } finally {
        await entries.return(undefined);
      }
      await target.setSequences(manifest.sequences);
      await target.upgrade();
      await target.endLeases();
      // Before the rows are committed: files without rows are harmless and get pruned.
      await files?.publish();
    });
  } finally {
    progress.end();
    await files?.discard();
  }
  if (!header || !manifest) throw new CommandFailure(texts.commands.notBackup(file));
  return { header, manifest, warnings: buildWarnings(header, config, texts) };
}

function buildWarnings(header: Header, { encryptionKeys, storage }: Config, { commands }: Texts): string[] {
  const warnings: string[] = [];
  const keys = findMissingKeys(encryptionKeys, header.keys);
  if (keys.length > 0) {
    const names = keys.map((id) => JSON.stringify(id)).join(', ');
    warnings.push(commands.missingKeys(names));
  }
  const url = storage.driver === 'base64' ? null : storage.url;
  if (header.storage.driver === 's3') {
    warnings.push(commands.filesInBucket(String(header.storage.url)));
  } else if (header.storage.url !== null && header.storage.url !== url) {
    warnings.push(commands.filesMoved(header.storage.url, String(url)));
  }
  return warnings;
}
