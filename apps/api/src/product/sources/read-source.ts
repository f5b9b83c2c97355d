import type { Source } from '@carillon/contract/tasks/sources';
import type { Context } from '../../context.ts';
import type { SourceResult, SourceValidators } from '../../lib/sources/reader.ts';

/** Reads a source of a user's task, whose answer to `earlier` may be that it has not changed. */
export async function readSource(
  ctx: Context,
  _userId: number,
  { url = '', search, select }: Source,
  earlier?: SourceValidators,
): Promise<SourceResult> {
  if (search !== undefined) return ctx.sources.read({ search });
  return ctx.sources.read({ url, select }, earlier);
}
