export const SQLSTATE = {
  uniqueViolation: '23505',
  foreignKeyViolation: '23503',
  invalidAuthorization: '28000',
  invalidPassword: '28P01',
  unknownDatabase: '3D000',
  serializationFailure: '40001',
  deadlock: '40P01',
  lockNotAvailable: '55P03',
  insufficientPrivilege: '42501',
  undefinedObject: '42704',
  duplicateDatabase: '42P04',
  undefinedTable: '42P01',
  readOnly: '25006',
  transactionFailed: '25P02',
  tooManyConnections: '53300',
  queryCanceled: '57014',
  adminShutdown: '57P01',
  crashShutdown: '57P02',
  cannotConnectNow: '57P03',
} as const;

/** The statement may have run or not. `code` is that of the driver or system, or one of ours: `DATABASE_…`. */
export class DatabaseUnavailable extends Error {
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'DatabaseUnavailable';
    this.code = code;
  }
}

export function isDatabaseUnavailable(error: unknown): boolean {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth += 1) {
    if (at instanceof DatabaseUnavailable) return true;
  }
  return false;
}

function databaseError(error: unknown): (Error & { code?: unknown; constraint_name?: unknown }) | undefined {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return cause instanceof Error ? cause : undefined;
}

/** The code of a database error: a SQLSTATE, or a code of the network or the driver. Undefined for other errors. */
export function databaseErrorCode(error: unknown): string | undefined {
  const found = databaseError(error);
  return found && 'code' in found ? String(found.code) : undefined;
}

/** The message of a database error, or of another error of which it is the cause. */
export const databaseErrorMessage = (error: unknown): string | undefined => databaseError(error)?.message;

export const violatedUnique = (error: unknown): string | null => violatedConstraint(error, SQLSTATE.uniqueViolation);

/** The name of the foreign key that a statement violated, or null. */
export const violatedForeignKey = (error: unknown): string | null =>
  violatedConstraint(error, SQLSTATE.foreignKeyViolation);

function violatedConstraint(error: unknown, code: string): string | null {
  const name = databaseErrorCode(error) === code ? databaseError(error)?.constraint_name : null;
  return typeof name === 'string' ? name : null;
}

/** SQLSTATE classes of connection trouble, rolled back transactions, lack of resources, intervention and I/O. */
const TRANSIENT_CLASSES = new Set(['08', '25', '40', '53', '55', '57', '58']);

/** Whether background work may retry after a database error. Other errors, bugs included, would only repeat. */
export function isTransient(error: unknown): boolean {
  const code = databaseErrorCode(error);
  if (code === undefined) return false;
  const isSqlState = /^[0-9A-Z]{5}$/.test(code);
  return !isSqlState || TRANSIENT_CLASSES.has(code.slice(0, 2));
}

/**
 * Connection trouble, lack of resources, intervention; lock timeout, idle transaction, read-only standby, deadlock; a
 * prepared statement that a pooler lost or doubled.
 */
const OUTAGE = /^(08|53|57)...$|^(55P03|25P03|25006|40001|40P01|26000|42P05)$/;

/** Whether a request failed because the database is unreachable or overloaded, which is answered with 503. */
export function isOutage(error: unknown): boolean {
  return isDatabaseUnavailable(error) || OUTAGE.test(databaseErrorCode(error) ?? '');
}

/** What a server or its socket reports while it starts, recovers or shuts down. */
const NOT_READY = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'CONNECTION_CLOSED',
  'CONNECTION_ENDED',
  'CONNECTION_DESTROYED',
  'CONNECT_TIMEOUT',
  SQLSTATE.tooManyConnections,
  SQLSTATE.adminShutdown,
  SQLSTATE.crashShutdown,
  SQLSTATE.cannotConnectNow,
]);

export const isNotReady = (error: unknown): boolean => NOT_READY.has(databaseErrorCode(error) ?? '');

/** The certificate of the server is not trusted. */
export const CERTIFICATE_ERRORS: readonly string[] = [
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
];

/** Failures to connect that the operator corrects by a setting. */
const CONNECT_FAILURES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ETIMEDOUT',
  'CONNECT_TIMEOUT',
  'CONNECTION_CLOSED',
  SQLSTATE.invalidAuthorization,
  SQLSTATE.invalidPassword,
  SQLSTATE.unknownDatabase,
  SQLSTATE.insufficientPrivilege,
  SQLSTATE.tooManyConnections,
  SQLSTATE.undefinedObject,
  ...CERTIFICATE_ERRORS,
  'CERT_HAS_EXPIRED',
  'ERR_TLS_CERT_ALTNAME_INVALID',
]);

export function findConnectFailure(error: Error): (Error & { code?: string }) | undefined {
  return [error, error.cause]
    .filter((one) => one instanceof Error)
    .find((one) => CONNECT_FAILURES.has((one as NodeJS.ErrnoException).code ?? ''));
}
