import type { ModelAttempt } from './executions.ts';

const REASONS: Partial<Record<NonNullable<ModelAttempt['errorCode']>, string>> = {
  RATE_LIMIT_EXCEEDED: 'limits how often it may be asked',
  TIMEOUT: 'did not answer in time',
  PROVIDER_UNAVAILABLE: 'was unavailable or overloaded',
  AUTHENTICATION_FAILED: 'refused the API key',
  QUOTA_EXCEEDED: 'has no credit left',
  UNKNOWN_MODEL: 'is not known to its provider',
};

/** Such as `Answered by b, because a was unavailable or overloaded (2 tries, 9 s).` Empty if the first model answered. */
export function describeFallback(attempts: readonly ModelAttempt[]): string {
  const answered = attempts.at(-1);
  const failed = attempts.slice(0, -1);
  if (!answered || failed.every(({ model }) => model === answered.model)) return '';
  const models = [...new Set(failed.map(({ model }) => model))].filter((model) => model !== answered.model);
  const reasons = models.map((model) => {
    const tries = failed.filter((attempt) => attempt.model === model);
    const errorCode = tries.at(-1)?.errorCode;
    const reason = (errorCode && REASONS[errorCode]) ?? 'sent an answer that cannot be used';
    const seconds = Math.round(tries.reduce((sum, { ms }) => sum + ms, 0) / 1000);
    return `${model} ${reason} (${tries.length === 1 ? '1 try' : `${tries.length} tries`}, ${seconds} s)`;
  });
  return `Answered by ${answered.model}, because ${reasons.join(', and ')}.`;
}
