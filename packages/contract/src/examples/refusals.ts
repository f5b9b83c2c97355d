/** Whole bodies of refusals, for `refused` of an example. */

/** 402: what is used up, and when it begins anew. */
export const overQuota = (resource: string, used: number, limit: number, resetAt: string | null = null) => ({
  success: false,
  error: 'Quota exceeded',
  message: `The quota of ${limit} ${resource} is used up${resetAt === null ? '' : ` until ${resetAt}`}.`,
  details: { resource, used, limit, resetAt },
});

/** 402 of whatever counts as an execution. */
export const overExecutions = overQuota('executions', 50, 50, '2026-11-21T00:00:00.000Z');

/** 400: the messages by field. */
export const invalid = (details: Record<string, string[]>) => ({
  success: false,
  error: 'Validation error',
  message: 'The request is not valid.',
  details,
});
