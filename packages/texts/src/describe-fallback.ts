import type { en } from './en/index.ts';

interface Attempt {
  model: string;
  errorCode: string | null;
  ms: number;
}

/** Such as `Answered by b, because a was unavailable or overloaded (2 tries, 9 s).` Empty if the first model answered. */
export function describeFallback(
  { fallback, formats }: Pick<typeof en, 'fallback' | 'formats'>,
  attempts: readonly Attempt[],
): string {
  const reasonOf: Readonly<Record<string, string | undefined>> = fallback.reasons;
  const answered = attempts.at(-1);
  const failed = attempts.slice(0, -1);
  if (!answered || failed.every(({ model }) => model === answered.model)) return '';
  const models = [...new Set(failed.map(({ model }) => model))].filter((model) => model !== answered.model);
  const reasons = models.map((model) => {
    const tries = failed.filter((attempt) => attempt.model === model);
    const reason = reasonOf[tries.at(-1)?.errorCode ?? ''] ?? fallback.otherReason;
    const ms = tries.reduce((sum, attempt) => sum + attempt.ms, 0);
    return fallback.model(model, reason, tries.length, formats.duration(ms));
  });
  return fallback.answeredBy(answered.model, formats.list(reasons));
}
