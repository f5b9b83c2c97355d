import type { Context } from '../../context.ts';
import { BATCH_SIZE, type Batch } from './batch.ts';
import { PRUNED_KINDS, type PrunedKind, toPruneBatch } from './policies.ts';

const MANY_ROWS = BATCH_SIZE / 10;

/** Prunes every kind to the end. Returns early when the process stops. */
export async function pruneAll(
  ctx: Context,
  onBatch: (kind: PrunedKind, deleted: number) => void = () => {},
): Promise<void> {
  for (const kind of PRUNED_KINDS) {
    let batch: Batch = { deleted: 0, next: null, isLast: false };
    while (!batch.isLast && !ctx.worker.stopping.aborted) {
      batch = await toPruneBatch(ctx, kind)(ctx, batch.next);
      onBatch(kind, batch.deleted);
    }
  }
}

/** Each call continues after the last one with one batch per kind, or more while there is much to delete. */
export function createPruner(ctx: Context): () => Promise<void> {
  const positions = new Map<PrunedKind, string | null>();
  return async () => {
    for (const kind of PRUNED_KINDS) {
      try {
        let batch: Batch;
        do {
          if (ctx.worker.stopping.aborted) return;
          batch = await toPruneBatch(ctx, kind)(ctx, positions.get(kind) ?? null);
          positions.set(kind, batch.isLast ? null : batch.next);
        } while (batch.deleted >= MANY_ROWS && !batch.isLast);
      } catch (error) {
        ctx.log.error({ err: error }, `pruning ${kind} failed`);
      }
    }
  };
}
