import { formats } from './formats.ts';

/** Why another model answered than the first one. */
export const fallback = {
  reasons: {
    RATE_LIMIT_EXCEEDED: 'reached its rate limit',
    TIMEOUT: 'did not answer in time',
    PROVIDER_UNAVAILABLE: 'was unavailable or overloaded',
    AUTHENTICATION_FAILED: 'rejected the API key',
    QUOTA_EXCEEDED: 'has no credit left',
    UNKNOWN_MODEL: 'is not known to its provider',
  },
  otherReason: 'returned an invalid answer',
  model: (model: string, reason: string, tries: number, duration: string) =>
    `${model} ${reason} (${formats.count(tries, 'try', 'tries')}, ${duration})`,
  answeredBy: (model: string, reasons: string) => `Answered by ${model}, because ${reasons}.`,
};
