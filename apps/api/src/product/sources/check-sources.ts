import type { RunIf, Source } from '@carillon/contract/tasks/sources';
import type { Caller, Context } from '../../context.ts';
import { invalidField, invalidItem } from '../../errors.ts';
import { checkSelect } from '../../lib/sources/check-select.ts';
import { isHostOf, readSecretHosts } from '../secrets/read.ts';

/** Checks what the schema does not say. Throws 400. */
export async function checkSources(
  ctx: Context,
  caller: Pick<Caller, 'id'>,
  sources: readonly Source[],
): Promise<Source[]> {
  const hosts = sources.some(({ secret }) => secret !== undefined) ? await readSecretHosts(ctx, caller.id) : NO_HOSTS;
  const names = new Set<string>();
  for (const [at, source] of sources.entries()) {
    const problem = findProblem(ctx, source, hosts) ?? (names.has(source.name) ? 'has the name of another one' : null);
    if (problem !== null) throw invalidItem('sources', at, problem);
    names.add(source.name);
  }
  return [...sources];
}

const NO_HOSTS: ReadonlyMap<string, string> = new Map();

function findProblem(
  { config }: Context,
  { url, search, select, secret }: Source,
  hosts: ReadonlyMap<string, string>,
): string | null {
  if (search !== undefined) {
    if (url !== undefined) return 'must have either url or search';
    if (select !== undefined || secret !== undefined) return 'must have neither select nor secret with search';
    return config.searchUrl === null ? 'cannot search: the operator has set no search engine' : null;
  }
  if (url === undefined) return 'must have either url or search';
  const problem = select === undefined ? null : checkSelect(select);
  if (problem !== null) return `select ${problem}`;
  if (secret === undefined) return null;
  const host = hosts.get(secret);
  if (host === undefined) return `names the secret ${secret}, which does not exist`;
  return isHostOf(host, url) ? null : `names the secret ${secret}, which is for ${host}`;
}

/** Throws 400 for a task without sources that waits for a change of them. */
export function checkRunIf({ sources, runIf }: { sources: readonly unknown[]; runIf: RunIf }): void {
  if (runIf === 'changed' && sources.length === 0)
    throw invalidField('runIf', 'must be `always` for a task without sources');
}
