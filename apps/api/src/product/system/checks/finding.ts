import type { Texts } from '@carillon/texts';

export type DoctorTexts = Texts['doctor'];

export interface Finding {
  /** What was checked, such as `database`: a name that is the same in each language. */
  check: keyof DoctorTexts['checks'];
  /** A problem stops something from working, a warning may. */
  level: 'ok' | 'warning' | 'problem';
  message: string;
  /** How to correct it. */
  fix?: string;
}

/** Builders for the findings of one check. */
export const findingsFor = (check: Finding['check']) => ({
  ok: (message: string): Finding => ({ check, level: 'ok', message }),
  warning: (message: string, fix: string): Finding => ({ check, level: 'warning', message, fix }),
  problem: (message: string, fix: string): Finding => ({ check, level: 'problem', message, fix }),
});

/** The codes of an error and of its causes, such as `ECONNREFUSED` or a SQLSTATE. */
export function collectErrorCodes(error: unknown): string[] {
  const codes: string[] = [];
  for (let at = error; at instanceof Error; at = at.cause) {
    if ('code' in at && typeof at.code === 'string') codes.push(at.code);
    if (at instanceof AggregateError) codes.push(...at.errors.flatMap(collectErrorCodes));
  }
  return codes;
}

/** The innermost message in one line. */
export function describeCause(error: unknown): string {
  let at = error;
  while (at instanceof Error && at.cause instanceof Error) at = at.cause;
  const text = at instanceof Error ? at.message || collectErrorCodes(at).join(', ') || at.name : String(at);
  return text
    .replaceAll(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .slice(0, 300);
}
