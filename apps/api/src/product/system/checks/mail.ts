import { createTransport } from 'nodemailer';
import type { Config } from '../../../lib/config/config.ts';
import { type DoctorTexts, describeCause, type Finding, findingsFor } from './finding.ts';

const { ok, problem } = findingsFor('mail');
const TIMEOUT_MS = 10_000;

/** Connects to the mail server and logs in; sends no mail. */
export async function checkMail(
  { smtpUrl, folder }: Config['mail'],
  texts: DoctorTexts,
  timeoutMs = TIMEOUT_MS,
): Promise<Finding[]> {
  if (smtpUrl === null) return [ok(texts.mailFolder(folder))];
  const { host } = new URL(smtpUrl);
  const transport = createTransport({
    url: smtpUrl,
    connectionTimeout: timeoutMs,
    dnsTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
  });
  try {
    await transport.verify();
    return [ok(texts.mailAccepted(host))];
  } catch (error) {
    const { code = '' } = error as { code?: string };
    return [explainMailError(code, describeCause(error), host, texts)];
  } finally {
    transport.close();
  }
}

function explainMailError(code: string, cause: string, host: string, texts: DoctorTexts): Finding {
  if (code === 'EAUTH') return problem(texts.mailLoginRejected(host, cause), texts.correctMailLogin);
  if (code === 'EDNS') return problem(texts.mailHostUnknown(host, cause), texts.correctMailHost);
  if (code === 'ETLS' || /certificate|self.signed|altnames|wrong version number|SSL|TLS/i.test(cause)) {
    return problem(texts.mailNotSecure(host, cause), texts.correctMailScheme);
  }
  if (code === 'ETIMEDOUT') return problem(texts.noAnswerInTime(host, cause), texts.checkMailPort);
  return problem(texts.unreachable(host, cause), texts.correctMailAddress);
}
