/** What a check has found: a fault keeps something from working, a warning may do so. */
export interface Finding {
  /** What was looked at, such as `database`. */
  check: string;
  level: 'ok' | 'warning' | 'fault';
  message: string;
  /** What to do about it. */
  mend?: string;
}

/** Makes the findings of one check. */
export const findingsOf = (check: string) => ({
  ok: (message: string): Finding => ({ check, level: 'ok', message }),
  warning: (message: string, mend: string): Finding => ({ check, level: 'warning', message, mend }),
  fault: (message: string, mend: string): Finding => ({ check, level: 'fault', message, mend }),
});

/** The codes of an error and of what has caused it, such as `ECONNREFUSED` or a SQLSTATE. */
export function codesOf(error: unknown): string[] {
  const codes: string[] = [];
  for (let at = error; at instanceof Error; at = at.cause) {
    if ('code' in at && typeof at.code === 'string') codes.push(at.code);
    if (at instanceof AggregateError) codes.push(...at.errors.flatMap(codesOf));
  }
  return codes;
}

/** The innermost message in one line. */
export function messageOf(error: unknown): string {
  let at = error;
  while (at instanceof Error && at.cause instanceof Error) at = at.cause;
  const text = at instanceof Error ? at.message || codesOf(at).join(', ') || at.name : String(at);
  return text
    .replaceAll(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .slice(0, 300);
}
