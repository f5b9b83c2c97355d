import { openContext } from '@carillon/api/open-context';
import { PRUNED_KINDS, type PrunedKind } from '@carillon/api/product/retention/policies';
import { pruneAll } from '@carillon/api/product/retention/prune';
import { deleteOrphanedObjects } from '@carillon/api/product/uploads/orphaned-objects';
import { type AddCommand, withConfig, withDatabase } from './command.ts';
import { removeOrphanedFiles } from './orphaned-files.ts';
import { startProgressBar } from './progress-bar.ts';

export const addPruneCommand: AddCommand = (program, context) => {
  const { commands: texts, help } = context.texts;
  program
    .command('prune')
    .summary(help.prune.summary)
    .description(help.prune.description)
    .option('--json', help.json)
    .action(({ json }: { json?: true }) =>
      withConfig(context, (config) =>
        withDatabase(config, async (url) => {
          const { ctx, close } = await openContext({ ...config, logLevel: 'silent' }, url);
          ctx.worker = { ...ctx.worker, stopping: context.signal };
          const progress = startProgressBar(texts.pruning);
          try {
            const deleted = Object.fromEntries(PRUNED_KINDS.map((kind) => [kind, 0])) as Record<PrunedKind, number>;
            await pruneAll(ctx, (kind, count) => {
              deleted[kind] += count;
              progress.show(
                PRUNED_KINDS.indexOf(kind),
                PRUNED_KINDS.length,
                `${deleted[kind]} ${texts.prunedKinds[kind]}`,
              );
            });
            const objects = await deleteOrphanedObjects(ctx);
            const folder = config.storage.driver === 'disk' ? config.storage.folder : null;
            const orphans =
              folder === null
                ? null
                : await removeOrphanedFiles(ctx, folder, (removed, found) =>
                    progress.show(removed, found, texts.withoutUpload),
                  );
            progress.end();
            context.signal.throwIfAborted();
            if (json) return console.log(JSON.stringify({ deleted, objects, orphans }));
            for (const kind of PRUNED_KINDS)
              console.log(
                texts[kind === 'open deliveries' ? 'ended' : 'pruned'](texts.prunedKinds[kind], deleted[kind]),
              );
            console.log(texts.deletedObjects(objects));
            if (folder !== null && orphans?.refused) {
              console.log(texts.otherFiles(folder, orphans.found));
              context.setExitCode(1);
            } else if (orphans) console.log(texts.deletedOrphans(orphans.removed));
          } finally {
            progress.end();
            await close();
          }
        }),
      ),
    );
};
