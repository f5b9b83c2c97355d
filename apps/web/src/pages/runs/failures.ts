import type { ExecutionErrorCode } from '@carillon/contract/executions';
import type { Texts } from '@carillon/texts';

interface Failure {
  /** What happened, as a heading. */
  why: string;
  whatToDo: string;
  /** Where that is done. */
  link?: { href: string; text: string };
}

/** Why a run failed and what to do about it. A run that never started was refused by a quota of Carillon. */
export function describeFailure(
  { failures }: Texts,
  errorCode: ExecutionErrorCode | null,
  hasStarted: boolean,
): Failure {
  if (errorCode === null) return failures.unknown;
  if (errorCode === 'QUOTA_EXCEEDED' && !hasStarted) {
    return { ...failures.overQuota, link: { href: '/usage', text: failures.openUsage } };
  }
  return errorCode === 'AUTHENTICATION_FAILED'
    ? { ...failures[errorCode], link: { href: '/settings', text: failures.openSettings } }
    : failures[errorCode];
}
