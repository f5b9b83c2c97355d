import { randomUUID } from 'node:crypto';
import type { ActionResult } from '@carillon/contract/actions/index';
import type { Context } from '../context.ts';
import { toActionError } from './errors.ts';

/**
 * Runs `work` with a request id and a log line of its own. `line` collects what the line shows. Never rejects: errors are
 * returned.
 */
export async function runAction<D>(
  ctx: Context,
  name: string,
  work: (ctx: Context, line: { userId?: number }) => Promise<D>,
): Promise<ActionResult<D>> {
  const startedAt = performance.now();
  const requestId = randomUUID();
  const log = ctx.log.child({ requestId, action: name });
  const line: { userId?: number } = {};
  const result: ActionResult<D> = await work({ ...ctx, requestId, log }, line).then(
    (data) => ({ success: true, data }),
    (error) => toActionError(error, log),
  );
  const code = result.success ? undefined : (result.code ?? 'INVALID');
  log.info({ ...line, code, ms: Math.round(performance.now() - startedAt) }, 'action');
  return result;
}
