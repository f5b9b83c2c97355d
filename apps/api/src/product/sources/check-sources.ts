import type { Source } from '@carillon/contract/tasks/sources';
import type { Caller, Context } from '../../context.ts';
import { invalidItem } from '../../errors.ts';
import { checkSelect } from '../../lib/sources/check-select.ts';

/** Checks what the schema does not say. Throws 400. */
export async function checkSources(
  ctx: Context,
  _caller: Pick<Caller, 'id'>,
  sources: readonly Source[],
): Promise<Source[]> {
  const names = new Set<string>();
  for (const [at, source] of sources.entries()) {
    const problem = findProblem(ctx, source) ?? (names.has(source.name) ? 'has the name of another one' : null);
    if (problem !== null) throw invalidItem('sources', at, problem);
    names.add(source.name);
  }
  return [...sources];
}

function findProblem({ config }: Context, { url, search, select, secret }: Source): string | null {
  if ((url === undefined) === (search === undefined)) return 'must have either url or search';
  if (search !== undefined) {
    if (select !== undefined || secret !== undefined) return 'must have neither select nor secret with search';
    return config.searchUrl === null ? 'cannot search: the operator has set no search engine' : null;
  }
  const problem = select === undefined ? null : checkSelect(select);
  return problem && `select ${problem}`;
}
