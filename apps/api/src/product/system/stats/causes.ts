import type { ExecutionErrorCode } from '@carillon/contract/executions';
import { type ChannelKind, toInstant } from '@carillon/db';
import type { Shortage } from '../../usage/forecast.ts';
import type { listOverBudget } from './over-budget.ts';

export interface NeedsRow {
  unconfirmedEmails: string[];
  failing: {
    taskId: number;
    taskName: string;
    isStopped: boolean;
    failures: number;
    executionId: number | null;
    at: string | null;
    error: string | null;
    errorCode: ExecutionErrorCode | null;
  }[];
  silent: { taskId: number; taskName: string; plannedFor: string }[];
  failedEndpoints: { id: string; url: string; kind: 'webhook' | ChannelKind; name: string | null }[];
}

type Quota = Exclude<Shortage['resource'], 'trial'>;

/** What needs the person, the most harmful first. */
export function listCauses(
  { failing, silent, failedEndpoints, unconfirmedEmails }: NeedsRow,
  shortages: readonly Shortage[],
  overBudget: Awaited<ReturnType<typeof listOverBudget>>,
) {
  const failures = failing.map(({ isStopped, at, ...failure }) => {
    const kind = isStopped ? ('stopped' as const) : ('failing' as const);
    return { kind, cause: `${kind} ${failure.errorCode ?? ''}`, ...failure, at: at && toInstant(at) };
  });
  const ofTrial = shortages.find(({ resource }) => resource === 'trial');
  const quotas = shortages.filter(({ resource }) => resource !== 'trial');
  const toQuota = ({ resource, period, used, limit, from, until, runs, tasks }: Shortage) => ({
    resource: resource as Quota,
    period: period as 'day' | 'month',
    used: used as number,
    limit: limit as number,
    from,
    until: until as Date,
    runs,
    tasks,
  });
  const toTrial = ({ from, runs, tasks }: Shortage) => ({ from, runs, tasks });
  return [
    ...failures.filter(({ kind }) => kind === 'stopped'),
    ...(ofTrial?.isNow ? [{ kind: 'trial_ended' as const, ...toTrial(ofTrial) }] : []),
    ...quotas.filter(({ isNow }) => isNow).map((one) => ({ kind: 'over_quota' as const, ...toQuota(one) })),
    ...failedEndpoints.map(({ id, url, name, kind }) => ({
      kind: 'endpoint_off' as const,
      endpoint: { id, url, name, kind },
    })),
    ...failures.filter(({ kind }) => kind === 'failing'),
    ...silent.map(({ plannedFor, ...late }) => {
      return { kind: 'late' as const, cause: 'late', ...late, plannedFor: toInstant(plannedFor) };
    }),
    ...overBudget.map(({ cause: reason, ...task }) => ({ kind: 'over_budget' as const, ...task, reason })),
    ...(ofTrial && !ofTrial.isNow ? [{ kind: 'trial_ends' as const, ...toTrial(ofTrial) }] : []),
    ...quotas.filter(({ isNow }) => !isNow).map((one) => ({ kind: 'quota_ends' as const, ...toQuota(one) })),
    ...unconfirmedEmails.map((email) => ({ kind: 'unconfirmed' as const, email })),
  ];
}
