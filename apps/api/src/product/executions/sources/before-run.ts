import {
  type ExecutionRequest,
  type ExecutionSource,
  queryRows,
  type SourceStates,
  type TaskSource,
} from '@carillon/db';
import { sql } from 'drizzle-orm';
import type { Context } from '../../../context.ts';
import { retryWhileUnavailable } from '../../../lib/queue/retry.ts';
import { quotaExceededError } from '../../../platform/limits/quotas.ts';
import { inTransaction } from '../../../transaction.ts';
import { addRequest, type Budget, checkBudget, selectBudget } from '../budget/budget.ts';
import { loadHighestCost } from '../budget/costs.ts';
import { type ExecutionResult, permanentFailure } from '../pipeline/execution-result.ts';
import type { ClaimedExecution } from '../pipeline/select-candidates.ts';
import { buildRequest } from '../request/build-request.ts';
import { alertOfSources, type LookedTaskRow, selectLookedTask } from './alerts.ts';
import { lookAtSources, type SourceLook, toExecutionSources } from './look.ts';
import { hashDefinition, loadStates, loadTexts, type SourceState, storeStates } from './states.ts';
import { buildSourceText } from './texts.ts';

const MAX_WAIT_MS = 2000;
/** A run that waits longer for its start reads the sources again. */
const MAX_AGE_MS = 10 * 60_000;

type Failure = Extract<ExecutionResult, { ok: false }>;
type Failed = Pick<Failure, 'ok' | 'errorCode' | 'message' | 'retryable' | 'retryAfterMs' | 'isOverBudget'>;

const INTERRUPTED: Failed = {
  ok: false,
  errorCode: 'INTERRUPTED',
  message: 'The run was aborted.',
  retryable: true,
  retryAfterMs: null,
};

/** What the sources of a run say, as it is stored with the run. */
interface ReadSources {
  sources: ExecutionSource[];
  states: SourceStates;
  texts: ReadonlyMap<string, string>;
  /** Empty if the look before the planned run has been stored. */
  looks: SourceLook[];
}

/**
 * Reads the sources of a claimed run and completes its request with their texts, without a transaction while it waits for
 * them. The budget is checked again: the request is longer than at the claim. A run whose sources were looked at before it
 * was planned, or before its process died, is not looked at again.
 */
export async function readSourcesOf(
  ctx: Context,
  execution: ClaimedExecution,
  signal: AbortSignal,
): Promise<{ ok: true; execution: ClaimedExecution; areAllFailed: boolean } | Failed> {
  const { unread } = execution;
  if (unread === null) return { ok: true, execution, areAllFailed: false };
  const retry = <T>(work: () => Promise<T>) =>
    retryWhileUnavailable(work, {
      maxWaitMs: MAX_WAIT_MS,
      signal,
      onRetry: (error) => ctx.log.error({ err: error, executionId: execution.id }, 'reading sources failed'),
    });
  const read = (await retry(() => findStoredLook(ctx, execution))) ?? (await look(ctx, execution, retry, signal));
  if (read === null || signal.aborted) return INTERRUPTED;
  const byName = new Map(read.sources.map((source) => [source.name, source]));
  const sourceTexts = execution.sources.flatMap((source) => {
    const looked = byName.get(source.name);
    return looked ? [buildSourceText(source, looked, read.texts.get(source.name) ?? null)] : [];
  });
  const request = buildRequest({ ...unread, sourceTexts }, ctx.now());
  const stored = await retry(() => inTransaction(ctx, (tx) => store(tx, execution, read, request)));
  if (stored !== null) return stored;
  const areAllFailed = read.sources.length > 0 && read.sources.every(({ status }) => status === 'failed');
  return { ok: true, execution: { ...execution, request }, areAllFailed };
}

/** Null if the run has had none, or another look has read other texts since. */
async function findStoredLook(ctx: Context, { id, taskId, sources }: ClaimedExecution): Promise<ReadSources | null> {
  const [row] = await queryRows<{ sources: ExecutionSource[] | null; states: SourceStates | null }>(
    ctx.db,
    sql`select sources, source_states as states from executions_live where id = ${id}`,
  );
  const [first] = row?.sources ?? [];
  if (!row?.sources || !first || ctx.now().getTime() - Date.parse(first.fetchedAt) > MAX_AGE_MS) return null;
  const states = row.states ?? {};
  const known = await loadTexts(ctx, taskId, sources);
  const isSame = sources.every(({ name }) => {
    const looked = row.sources?.find((source) => source.name === name);
    return looked !== undefined && (known.get(name)?.digest ?? null) === (states[name]?.digest ?? null);
  });
  if (!isSame || row.sources.length !== sources.length) return null;
  const texts = new Map([...known].map(([name, { text }]) => [name, text]));
  return { sources: row.sources, states, texts, looks: [] };
}

async function look(
  ctx: Context,
  { taskId, userId, sources }: ClaimedExecution,
  retry: <T>(work: () => Promise<T>) => Promise<T>,
  signal: AbortSignal,
): Promise<ReadSources | null> {
  const [states, stored] = await retry(() => Promise.all([loadStates(ctx, [taskId]), loadTexts(ctx, taskId, sources)]));
  // Without its text, "not modified" would be no answer.
  const known = states.map((state): SourceState => (stored.has(state.name) ? state : forget(state)));
  const looking = retry(() => lookAtSources(ctx, { id: taskId, userId, sources }, known));
  const looks = await Promise.race([looking, waitForAbort(signal)]);
  if (looks === null) return null;
  const texts = looks.flatMap(({ state, text }) => {
    const known = text ?? stored.get(state.name)?.text;
    return known === undefined ? [] : [[state.name, known] as const];
  });
  const { sources: read, sourceStates } = toExecutionSources(looks);
  return { sources: read, states: sourceStates, texts: new Map(texts), looks };
}

const forget = (state: SourceState): SourceState => ({ ...state, digest: null, asOf: null });

function waitForAbort(signal: AbortSignal): Promise<null> {
  if (signal.aborted) return Promise.resolve(null);
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(null), { once: true }));
}

interface LockedRun extends LookedTaskRow {
  budget: Budget | null;
  at: string;
}

/** Null if the run goes on. Locks in the order of the end of a run: task, execution. */
async function store(
  tx: Context,
  { id, claimToken }: ClaimedExecution,
  { sources, states, looks }: ReadSources,
  request: ExecutionRequest,
): Promise<Failed | null> {
  const [run] = await queryRows<LockedRun>(
    tx.db,
    sql`
    select ${selectLookedTask}, ${selectBudget} as budget, coalesce(e.planned_for, e.created_at) as at
    from executions_live e join tasks t on t.id = e.task_id
    where e.id = ${id} and e.status = 'running' and e.claim_token = ${claimToken}
    for no key update of t, e`,
  );
  if (!run) return INTERRUPTED;
  const budget = addRequest(run.budget, request);
  const exceeded = checkBudget(budget, await loadHighestCost(tx, [budget]), tx.now());
  const kept = keepCurrent(looks, run.sources);
  await storeStates(tx, kept);
  await alertOfSources(tx, [{ task: run, looks: kept, at: new Date(run.at), executionId: id }]);
  await tx.db.execute(sql`
    update executions_live set request = ${JSON.stringify(request)}::json, sources = ${JSON.stringify(sources)}::json,
      source_states = ${JSON.stringify(states)}::json where id = ${id}`);
  if (exceeded === null) return null;
  const refusal = permanentFailure('QUOTA_EXCEEDED', quotaExceededError(exceeded).message);
  return { ...refusal, isOverBudget: true };
}

/** Without the looks at sources that the task does not have any more. */
export function keepCurrent(looks: readonly SourceLook[], sources: readonly TaskSource[]): SourceLook[] {
  const definitions = new Set(sources.map((source) => `${source.name} ${hashDefinition(source)}`));
  return looks.filter(({ state }) => definitions.has(`${state.name} ${state.definition}`));
}
