import { openContext } from '@carillon/api/open-context';
import { PRUNED_KINDS, type PrunedKind } from '@carillon/api/retention/policies';
import { pruneAll } from '@carillon/api/retention/prune';
import { deleteOrphanedObjects } from '@carillon/api/uploads/orphaned-objects';
import { type AddCommand, withConfig, withDatabase } from './command.ts';
import { removeOrphans } from './orphans.ts';
import { startProgress } from './progress.ts';
import { inParagraphs } from './wording.ts';

const ABOUT = `Deletes what the service prunes by itself, at once and all of it: what is older than the retention settings say,
expired sessions and limits, files of deleted uploads. Then it removes files from the storage on disk that no row names and
that are older than a day, as a restore or a crash may leave them. It can be run while the service works.`;

/** `pnpm carillon prune`. */
export const pruneCommand: AddCommand = (program, surroundings) => {
  program
    .command('prune')
    .summary('delete what is older than the retention settings say')
    .description(inParagraphs(ABOUT))
    .option('--json', 'tell what was deleted as JSON')
    .action(({ json }: { json?: true }) =>
      withConfig(surroundings, (config) =>
        withDatabase(config, async (url) => {
          const { ctx, close } = await openContext({ ...config, logLevel: 'silent' }, url);
          ctx.worker = { ...ctx.worker, stopping: surroundings.signal };
          const progress = startProgress('Pruning');
          try {
            const deleted = Object.fromEntries(PRUNED_KINDS.map((what) => [what, 0])) as Record<PrunedKind, number>;
            await pruneAll(ctx, (what, more) => {
              deleted[what] += more;
              progress.show(PRUNED_KINDS.indexOf(what), PRUNED_KINDS.length, `${deleted[what]} ${what}`);
            });
            const objects = await deleteOrphanedObjects(ctx);
            const folder = config.storage.driver === 'disk' ? config.storage.folder : null;
            const orphans = folder === null ? null : await removeOrphans(ctx, folder, progress);
            progress.end();
            surroundings.signal.throwIfAborted();
            if (json) return console.log(JSON.stringify({ deleted, objects, orphans }));
            for (const what of PRUNED_KINDS) console.log(`${deleted[what]} ${what} deleted`);
            console.log(`${objects} objects of deleted uploads removed from the storage`);
            if (orphans?.refused) {
              console.log(
                `None of the ${orphans.found} old files in ${folder} is known to this database: they may be another installation's, and were left alone.`,
              );
              surroundings.endWith(1);
            } else if (orphans) console.log(`${orphans.removed} files removed that no upload names`);
          } finally {
            progress.end();
            await close();
          }
        }),
      ),
    );
};
