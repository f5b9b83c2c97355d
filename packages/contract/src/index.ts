import { BareErrorBody, ErrorBody, InvalidBody, NotValidBody, QuotaBody, RateLimitBody } from './envelopes.ts';
import { Execution } from './executions.ts';
import { Readiness } from './health.ts';
import { Occurrence, Task } from './task.ts';
import { User } from './users.ts';
import { DeliveryAttempt, Webhook } from './webhook.ts';

export * from './check.ts';
export * from './envelopes.ts';
export * from './operation.ts';
export * from './primitives.ts';

/** The schemas that others refer to by `$id`: registered once by the application, named in the document. */
export const NAMED_SCHEMAS = [
  ErrorBody,
  InvalidBody,
  QuotaBody,
  RateLimitBody,
  NotValidBody,
  BareErrorBody,
  Task,
  Occurrence,
  Execution,
  User,
  Webhook,
  DeliveryAttempt,
  Readiness,
];
