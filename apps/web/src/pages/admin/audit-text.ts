const KINDS: Readonly<Record<string, string>> = {
  'user.signed_in': 'Signed in',
  'user.registered': 'Account registered',
  'user.linked': 'Sign-in with a provider added',
  'user.promoted': 'Made an administrator',
  'user.changed': 'Account changed',
  'user.deleted': 'Account deleted',
  'user.password_changed': 'Password changed',
  'user.password_reset': 'Password reset',
  'user.email_change_requested': 'Change of the e-mail address requested',
  'user.email_changed': 'E-mail address changed',
  'key.created': 'API key created',
  'key.changed': 'API key changed',
  'key.deleted': 'API key deleted',
  'task.created_by_assistant': 'Task created by an assistant',
  'task.changed_by_assistant': 'Task changed by an assistant',
  'task.deleted_by_assistant': 'Task deleted by an assistant',
  'execution.started_by_assistant': 'Run started by an assistant',
  'execution.cancelled_by_assistant': 'Run cancelled by an assistant',
  'feed.created': 'Feed created',
  'feed.deleted': 'Feed deleted',
  'coupon.created': 'Coupon created',
  'coupon.changed': 'Coupon changed',
  'coupon.deleted': 'Coupon deleted',
  'coupon.activated': 'Coupon used',
  'settings.changed': 'System settings changed',
};

/** What an account has done besides, in its latest activity. */
const ACTIVITIES: Readonly<Record<string, string>> = {
  'task.created': 'Task created',
  'execution.pending': 'Run waits',
  'execution.running': 'Run started',
  'execution.completed': 'Run completed',
  'execution.failed': 'Run failed',
};

export const AUDIT_KINDS = Object.entries(KINDS).map(([value, text]) => ({ value, text }));

/** What happened, in words; the kind itself if it is not known here. */
export const describeKind = (kind: string): string => KINDS[kind] ?? ACTIVITIES[kind] ?? kind;

/** `trialEndsAt` is `trial ends at`. */
const toWords = (name: string): string => name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

const toText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** One line for each value: `role: USER → ADMIN` for a change, and `coupon id: 7` for anything else. */
export function describeDetails(details: Readonly<Record<string, unknown>>): string[] {
  const { before, after, ...rest } = details;
  const others = Object.entries(rest)
    .filter(([, value]) => value !== null && value !== undefined)
    .map(([name, value]) => `${toWords(name)}: ${toText(value)}`);
  if (isObject(before) && isObject(after)) {
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
    const changed = names.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
    return [...others, ...changed.map((name) => `${toWords(name)}: ${toText(before[name])} → ${toText(after[name])}`)];
  }
  const side = isObject(before) ? before : isObject(after) ? after : {};
  return [...others, ...Object.entries(side).map(([name, value]) => `${toWords(name)}: ${toText(value)}`)];
}
