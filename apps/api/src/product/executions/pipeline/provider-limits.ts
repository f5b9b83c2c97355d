import { queryRows } from '@carillon/db';
import { type SQL, sql } from 'drizzle-orm';
import type { Context } from '../../../context.ts';
import { findModel, type Providers } from '../../../lib/ai/providers.ts';
import { retryWhileUnavailable } from '../../../lib/queue/retry.ts';
import { inTransaction } from '../../../transaction.ts';
import { type Candidate, type Choice, type ClaimedExecution, selectCandidates } from './select-candidates.ts';

const MAX_WAIT_MS = 2000;

/** The name of a model's provider if that one has a limit; else null. */
export function findLimitedProvider(providers: Providers, model: string): string | null {
  const provider = findModel(providers, model)?.provider;
  return provider && provider.maxConcurrent !== null ? provider.name : null;
}

/**
 * Locks a provider, and returns how many more calls it may get: every run and every call of agent mode that starts at it
 * holds this lock until its row says so. Null if the provider is gone or has no limit.
 */
export async function countFreeCalls({ db }: Pick<Context, 'db'>, name: string): Promise<number | null> {
  const [row] = await queryRows<{ limit: number | null }>(
    db,
    sql`select max_concurrent as limit from providers where name = ${name} for no key update`,
  );
  if (!row || row.limit === null) return null;
  // A second statement: its snapshot must be taken under the lock.
  const [busy] = await queryRows<{ calls: number }>(db, countBusy(name));
  return row.limit - (busy?.calls ?? 0);
}

const countBusy = (name: string) => sql`select (
    (select count(*) from executions_live where status = 'running' and provider = ${name})
    + (select count(*) from agent_calls where provider = ${name})
  )::int as calls`;

/** Takes one of the calls of a fallback model's provider. False if it has as many as it may, or the run is lost. */
export async function occupyProvider(
  ctx: Context,
  { id, claimToken }: Pick<ClaimedExecution, 'id' | 'claimToken'>,
  model: string,
  signal: AbortSignal,
): Promise<boolean> {
  const name = findLimitedProvider(await ctx.providers.load(), model);
  if (name === null) return true;
  const work = async (tx: Context) => {
    const free = await countFreeCalls(tx, name);
    if (free !== null && free <= 0) return false;
    const taken = await queryRows(
      tx.db,
      sql`update executions_live set provider = ${name}
        where id = ${id} and status = 'running' and claim_token = ${claimToken} returning id`,
    );
    return taken.length > 0;
  };
  return retryWhileUnavailable(() => inTransaction(ctx, work), {
    maxWaitMs: MAX_WAIT_MS,
    signal,
    onRetry: (error) => ctx.log.error({ err: error, executionId: id }, 'taking a call of a provider failed'),
  });
}

export interface ProviderLimits {
  /** The providers that have one. */
  names: readonly string[];
  /** What of the queue asks none of these. */
  others: Choice;
  isOf(name: string): SQL;
}

/** Null if no provider has a limit. */
export async function loadProviderLimits(ctx: Context): Promise<ProviderLimits | null> {
  const { list, hasDefault } = await ctx.providers.load();
  const names = list.filter(({ maxConcurrent }) => maxConcurrent !== null).map(({ name }) => name);
  if (names.length === 0) return null;
  // As `findModel` reads the name of a model.
  const prefix = sql`case when strpos(t.ai_model, '/') between 2 and length(t.ai_model) - 1 then split_part(t.ai_model, '/', 1) end`;
  const provider = sql`case when ${prefix} = any(${toArray(list.map(({ name }) => name))}::text[]) then ${prefix}
    else ${hasDefault ? (list[0]?.name ?? null) : null}::text end`;
  const asks = (condition: SQL) => sql`and exists (select from tasks t where t.id = l.task_id and ${condition})`;
  return {
    names,
    others: { isIncluded: asks(sql`(${provider} = any(${toArray(names)}::text[])) is not true`), inTurn: sql`` },
    isOf: (name) => asks(sql`${provider} = ${name}`),
  };
}

const toArray = (names: readonly string[]) => `{${names.join(',')}}`;

/**
 * Selects queued executions of providers that have a limit, as many as may start: one of each user in turn, after the user
 * whose execution was started last. Providers that another claim has locked are left to it.
 */
export async function selectLimited(tx: Context, limits: ProviderLimits, limit: number): Promise<Candidate[]> {
  const locked = await queryRows<{ name: string; limit: number; lastUserId: number }>(
    tx.db,
    sql`select name, max_concurrent as limit, last_user_id from providers
      where name = any(${toArray(limits.names)}::text[]) and max_concurrent is not null
      order by name for no key update skip locked`,
  );
  const candidates: Candidate[] = [];
  for (const { name, limit: most, lastUserId } of locked) {
    // A second statement: its snapshot must be taken under the lock.
    const [busy] = await queryRows<{ calls: number }>(tx.db, countBusy(name));
    const count = Math.min(most - (busy?.calls ?? 0), limit - candidates.length);
    if (count <= 0) continue;
    const found = await selectInTurn(tx, limits.isOf(name), count, lastUserId);
    const last = found.candidates.at(-1)?.userId ?? found.next;
    if (last !== lastUserId) await tx.db.execute(sql`update providers set last_user_id = ${last} where name = ${name}`);
    candidates.push(...found.candidates.map((candidate) => ({ ...candidate, provider: name })));
  }
  return candidates;
}

/** The users after `after`, then those up to it. */
async function selectInTurn(tx: Context, isIncluded: SQL, count: number, after: number) {
  const inTurn = sql`order by p.place, w.turn`;
  const found = await selectCandidates(tx, count, after, { isIncluded, inTurn });
  const left = count - found.candidates.length;
  if (found.next !== 0 || after === 0 || left === 0) return found;
  const others = sql`${isIncluded} and l.user_id <= ${after}`;
  const second = await selectCandidates(tx, left, 0, { isIncluded: others, inTurn });
  return { ...second, candidates: [...found.candidates, ...second.candidates] };
}
