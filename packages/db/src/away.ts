/**
 * The database is out of reach: it cannot be connected to, a connection to it broke, or it did not answer in time. What
 * it was asked may have been done or not. `code` is the driver's, the system's, or one of ours: `DATABASE_TIMEOUT` (no
 * answer), `DATABASE_BUSY` (no connection became free), `DATABASE_CLOSED` (our side has closed).
 */
export class DatabaseUnavailable extends Error {
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'DatabaseAway';
    this.code = code;
  }
}

/** Whether an error, or what caused it, is a `DatabaseAway`. */
export function isDatabaseUnavailable(error: unknown): boolean {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth += 1) {
    if (at instanceof DatabaseUnavailable) return true;
  }
  return false;
}
