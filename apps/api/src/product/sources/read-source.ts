import type { Source } from '@carillon/contract/tasks/sources';
import type { Context } from '../../context.ts';
import type { SourceResult, SourceValidators } from '../../lib/sources/reader.ts';
import { takeSecret } from '../secrets/read.ts';

const NO_SECRET = 'The secret of the source was deleted, or is for another host.';

/** Reads a source of a user's task, whose answer to `earlier` may be that it has not changed. */
export async function readSource(
  ctx: Context,
  userId: number,
  { url = '', search, select, secret }: Source,
  earlier?: SourceValidators,
): Promise<SourceResult> {
  if (search !== undefined) return ctx.sources.read({ search });
  if (secret === undefined) return ctx.sources.read({ url, select }, earlier);
  const header = await takeSecret(ctx, userId, secret, url);
  if (header === null) return { status: 'failed', httpStatus: null, message: NO_SECRET };
  return ctx.sources.read({ url, select, header }, earlier);
}
