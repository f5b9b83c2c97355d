import type { IncomingHttpHeaders } from 'node:http';

/** What ended a call other than its answer. `sent`: the request has left, so it may be billed. */
export type Fault =
  | { kind: 'refused'; status: number; body: string; headers: IncomingHttpHeaders }
  | { kind: 'oversize' }
  | { kind: 'broken'; reason: string; sent: boolean }
  /** Its deadline has passed. */
  | { kind: 'late'; sent: boolean }
  /** Its caller, or the end of the process, has stopped it. */
  | { kind: 'interrupted'; sent: boolean }
  /** The service answered 2xx with what is no answer of its protocol. */
  | { kind: 'unusable'; body: string }
  /** An error that came as an event of a stream which had begun with 2xx. */
  | { kind: 'told'; event: unknown };
