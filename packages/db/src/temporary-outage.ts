import { CERTIFICATE_ERRORS, databaseErrorCode, databaseErrorMessage, isOutage, SQLSTATE } from './errors.ts';

/** They need a correction by the operator. */
const PERMANENT = new Set<string>([
  'ENOTFOUND',
  SQLSTATE.invalidAuthorization,
  SQLSTATE.invalidPassword,
  SQLSTATE.unknownDatabase,
  SQLSTATE.insufficientPrivilege,
  ...CERTIFICATE_ERRORS,
]);

const REASONS: readonly { codes: readonly string[]; reason: string }[] = [
  { codes: ['ECONNREFUSED'], reason: 'it refuses connections' },
  {
    codes: ['ECONNRESET', 'EPIPE', 'CONNECTION_CLOSED', 'CONNECTION_ENDED', 'CONNECTION_DESTROYED'],
    reason: 'it closes connections',
  },
  { codes: ['CONNECT_TIMEOUT', 'ETIMEDOUT', 'DATABASE_TIMEOUT'], reason: 'it does not answer' },
  { codes: ['EHOSTUNREACH', 'EHOSTDOWN', 'ENETUNREACH', 'ENETDOWN'], reason: 'its host cannot be reached' },
  { codes: ['EAI_AGAIN'], reason: 'its host name cannot be looked up at the moment' },
  { codes: [SQLSTATE.cannotConnectNow], reason: 'it starts up or recovers' },
  { codes: [SQLSTATE.adminShutdown, SQLSTATE.crashShutdown], reason: 'it shuts down' },
  { codes: [SQLSTATE.readOnly], reason: 'it is read-only, like a standby' },
  { codes: [SQLSTATE.tooManyConnections], reason: 'it has no connection left' },
];

/** Why the database cannot be used for now, such as `it refuses connections`. Null for an error that does not pass by itself. */
export function describeTemporaryOutage(error: unknown): string | null {
  const code = databaseErrorCode(error);
  if (code === undefined || PERMANENT.has(code) || isRejectedByPooler(error, code)) return null;
  const known = REASONS.find(({ codes }) => codes.includes(code));
  if (known) return `${isClosedBeforeTls(error) ? BEFORE_TLS : known.reason} (${code})`;
  return isOutage(error) ? `it is not available (${code})` : null;
}

const BEFORE_TLS = 'it closes connections before TLS, which it may not support';

/** The driver continues after a server has declined TLS, and the server closes the connection. */
const isClosedBeforeTls = (error: unknown) => /before secure TLS connection/.test(databaseErrorMessage(error) ?? '');

/** PgBouncer reports most of its errors with one code, temporary ones and those about the user or the database. */
const isRejectedByPooler = (error: unknown, code: string) =>
  code === '08P01' && /auth|password|no such (user|database)/i.test(String((error as Error).message));
