import { randomUUID } from 'node:crypto';
import type { ActionResult, ActionSuccess } from '@carillon/contract/actions/index';
import type { Logger } from 'pino';
import type { Context } from '../../context.ts';
import { toActionError } from './errors.ts';

/** `line` collects what the log line shows. */
type Work<D> = (ctx: Context, line: { userId?: number }) => Promise<D>;

/** Runs `work` with a request id and a log line of its own. Never rejects: errors are returned. */
export const runAction = <D>(ctx: Context, name: string, work: Work<D>): Promise<ActionResult<D>> =>
  runActionWith(toActionError, ctx, name, work);

/** As `runAction`, with the errors that `describe` returns. */
export async function runActionWith<D, E extends { success: false; code?: string | undefined }>(
  describe: (error: unknown, log: Logger) => E,
  ctx: Context,
  name: string,
  work: Work<D>,
): Promise<ActionSuccess<D> | E> {
  const startedAt = performance.now();
  const requestId = randomUUID();
  const log = ctx.log.child({ requestId, action: name });
  const line: { userId?: number } = {};
  const result: ActionSuccess<D> | E = await work({ ...ctx, requestId, log }, line).then(
    (data) => ({ success: true as const, data }),
    (error) => describe(error, log),
  );
  const code = result.success ? undefined : (result.code ?? 'INVALID');
  log.info({ ...line, code, ms: Math.round(performance.now() - startedAt) }, 'action');
  return result;
}
