import { openContext } from '@carillon/api/open-context';
import { PRUNED_KINDS, type PrunedKind } from '@carillon/api/product/retention/policies';
import { pruneAll } from '@carillon/api/product/retention/prune';
import { deleteOrphanedObjects } from '@carillon/api/product/uploads/orphaned-objects';
import { type AddCommand, withConfig, withDatabase } from './command.ts';
import { formatCount, joinParagraphLines } from './formatting.ts';
import { removeOrphanedFiles } from './orphaned-files.ts';
import { startProgressBar } from './progress-bar.ts';

const DESCRIPTION = `Deletes immediately what the service prunes in batches: data older than the retention settings, expired
sessions and limits, files of deleted uploads. Ends deliveries that wait for failed webhooks. Then deletes files
from the storage on disk that belong to no upload and are older than a day, which a restore or a crash may leave. The service can run at the same time.`;

export const addPruneCommand: AddCommand = (program, context) => {
  program
    .command('prune')
    .summary('delete data older than the retention settings')
    .description(joinParagraphLines(DESCRIPTION))
    .option('--json', 'print the result as JSON')
    .action(({ json }: { json?: true }) =>
      withConfig(context, (config) =>
        withDatabase(config, async (url) => {
          const { ctx, close } = await openContext({ ...config, logLevel: 'silent' }, url);
          ctx.worker = { ...ctx.worker, stopping: context.signal };
          const progress = startProgressBar('Pruning');
          try {
            const deleted = Object.fromEntries(PRUNED_KINDS.map((kind) => [kind, 0])) as Record<PrunedKind, number>;
            await pruneAll(ctx, (kind, count) => {
              deleted[kind] += count;
              progress.show(PRUNED_KINDS.indexOf(kind), PRUNED_KINDS.length, `${deleted[kind]} ${kind}`);
            });
            const objects = await deleteOrphanedObjects(ctx);
            const folder = config.storage.driver === 'disk' ? config.storage.folder : null;
            const orphans = folder === null ? null : await removeOrphanedFiles(ctx, folder, progress);
            progress.end();
            context.signal.throwIfAborted();
            if (json) return console.log(JSON.stringify({ deleted, objects, orphans }));
            for (const kind of PRUNED_KINDS)
              console.log(`${kind === 'open deliveries' ? 'Ended' : 'Deleted'} ${kind}: ${deleted[kind]}`);
            console.log(`Deleted ${formatCount(objects, 'object')} of deleted uploads`);
            if (orphans?.refused) {
              console.log(
                `${folder} contains old files (${orphans.found}), none of them known to this database. They may belong to another installation and were not deleted.`,
              );
              context.setExitCode(1);
            } else if (orphans) console.log(`Deleted ${formatCount(orphans.removed, 'file')} without an upload`);
          } finally {
            progress.end();
            await close();
          }
        }),
      ),
    );
};
