import type { ExecutionErrorCode } from '@carillon/contract/executions';
import type { UserPageContext } from '../../page.ts';

interface Failure {
  /** What happened, as a heading. */
  why: string;
  whatToDo: string;
  /** Where that is done. */
  link?: { href: string; text: string };
}

/** Why a run failed and what to do about it. A run that never started was refused by a quota of Carillon. */
export function describeFailure(
  { texts: { failures }, viewer }: UserPageContext,
  errorCode: ExecutionErrorCode | null,
  hasStarted: boolean,
): Failure {
  const isAdmin = viewer.role === 'ADMIN';
  if (errorCode === null) return failures.unknown;
  if (errorCode === 'QUOTA_EXCEEDED' && !hasStarted) {
    return isAdmin
      ? {
          why: failures.overQuota.why,
          whatToDo: failures.forAdmins.overQuota,
          link: { href: '/admin/settings', text: failures.openSystemSettings },
        }
      : { ...failures.overQuota, link: { href: '/usage', text: failures.openUsage } };
  }
  const { why, whatToDo } = failures[errorCode];
  if (isAdmin && isOfOperators(errorCode)) {
    const link = { href: '/admin/providers', text: failures.openProviders };
    return { why, whatToDo: failures.forAdmins[errorCode], link };
  }
  return errorCode === 'AUTHENTICATION_FAILED'
    ? { why, whatToDo, link: { href: '/settings/ai-key', text: failures.openSettings } }
    : { why, whatToDo };
}

const OF_OPERATORS = ['AUTHENTICATION_FAILED', 'UNKNOWN_MODEL', 'PROVIDER_UNAVAILABLE', 'QUOTA_EXCEEDED'] as const;

const isOfOperators = (code: ExecutionErrorCode): code is (typeof OF_OPERATORS)[number] =>
  OF_OPERATORS.some((one) => one === code);
