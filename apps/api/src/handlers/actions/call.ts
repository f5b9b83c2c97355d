import type { Caller, Context } from '../../context.ts';

export interface Call {
  /** With a request id of its own, for logs, events and the audit log. */
  ctx: Context;
  caller: Caller;
}
