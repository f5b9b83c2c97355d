import {
  collectErrorCodes,
  type DoctorTexts,
  describeCause,
  type Finding,
  findingsFor,
} from '@carillon/api/product/system/checks/finding';
import { CERTIFICATE_ERRORS, SQLSTATE } from '@carillon/db/errors';
import { PoolerError } from '@carillon/db/pool/pooling';

const { problem } = findingsFor('database');

export function explainDatabaseError(error: unknown, texts: DoctorTexts): Finding {
  if (error instanceof PoolerError) return problem(error.message, texts.seePoolers);
  const codes = collectErrorCodes(error);
  const cause = describeCause(error);
  const found = EXPLANATIONS.find(({ code, pattern }) => codes.includes(code) && (!pattern || pattern.test(cause)));
  const { message, fix } = texts.databaseErrors[found?.text ?? 'unknown'];
  return problem(`${message}: ${cause}`, fix);
}

interface Explanation {
  code: string;
  /** What the message of the error contains, where the code alone is ambiguous. */
  pattern?: RegExp;
  text: keyof DoctorTexts['databaseErrors'];
}

const EXPLANATIONS: readonly Explanation[] = [
  { code: 'ECONNRESET', pattern: /before secure TLS connection/, text: 'noTls' },
  { code: SQLSTATE.invalidAuthorization, pattern: /no encryption|SSL off/, text: 'tlsRequired' },
  ...CERTIFICATE_ERRORS.map((code) => ({ code, text: 'certificateNotTrusted' as const })),
  { code: 'ERR_TLS_CERT_ALTNAME_INVALID', text: 'certificateOfOther' },
  { code: 'CERT_HAS_EXPIRED', text: 'certificateExpired' },
  { code: SQLSTATE.undefinedObject, pattern: /configuration parameter/, text: 'unknownParameter' },
  { code: 'ECONNREFUSED', text: 'refused' },
  { code: 'ENOTFOUND', text: 'unknownHost' },
  { code: 'EAI_AGAIN', text: 'noNameResolution' },
  { code: SQLSTATE.invalidPassword, text: 'wrongPassword' },
  { code: SQLSTATE.invalidAuthorization, text: 'userRejected' },
  { code: SQLSTATE.unknownDatabase, text: 'noDatabase' },
  { code: SQLSTATE.insufficientPrivilege, text: 'noPrivilege' },
  { code: SQLSTATE.cannotConnectNow, text: 'starting' },
  { code: SQLSTATE.tooManyConnections, text: 'noConnection' },
  { code: 'DATABASE_TIMEOUT', text: 'noAnswer' },
];
