import type { EventKind } from '@carillon/contract/webhooks/events';
import { ALERT_KINDS } from '@carillon/db';
import type { SQL } from 'drizzle-orm';
import type { AppError } from '../../../errors.ts';

/** Also sent for executions that an inbound webhook started, unlike `task.*` events. */
export const TASK_EVENTS: EventKind[] = ['execution.completed', 'execution.failed', ...ALERT_KINDS];

/** A webhook or a channel of the caller, which are rows of one table. */
export interface OwnEndpoint {
  id: string;
  where: SQL | undefined;
  notFound: () => AppError;
  /** Why nothing can be sent again. */
  inactive: string;
}
