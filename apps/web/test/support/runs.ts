import type { Context } from '../../../api/src/context.ts';
import { createWorker } from '../../../api/src/entry/worker.ts';
import type { AiOutcome } from '../../../api/src/lib/ai/client.ts';
import { enqueueDue } from '../../../api/src/product/executions/pipeline/enqueue.ts';

/** The next answer of every model. */
export interface Model {
  outcome: AiOutcome;
}

export const answer = (text: string): AiOutcome => ({
  ok: true,
  text,
  durationMs: 2400,
  usage: { model: 'large-2026', inputTokens: 412, outputTokens: 80, estimated: false, costUsd: 0.0123 },
});

export const failure = (
  errorCode: (AiOutcome & { ok: false })['errorCode'],
  message: string,
  retryable = false,
): AiOutcome => ({ ok: false, errorCode, message, retryable, retryAfterMs: null, durationMs: 5, usage: null });

/** A model whose answer a test sets. */
export function createModel(): Model & { ai: Context['ai'] } {
  const model: Model & { ai: Context['ai'] } = {
    outcome: answer('Done.'),
    ai: { ask: async () => model.outcome, close: async () => {} },
  };
  return model;
}

/** Runs what is due, with this outcome. */
export async function runAll(ctx: Context, model: Model, outcome: AiOutcome): Promise<void> {
  model.outcome = outcome;
  await enqueueDue(ctx);
  await createWorker(ctx).drain();
}
