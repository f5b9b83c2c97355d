import { createTransport } from 'nodemailer';
import type { Config } from '../../../lib/config/config.ts';
import { describeCause, type Finding, findingsFor } from './finding.ts';

const { ok, problem } = findingsFor('mail');
const TIMEOUT_MS = 10_000;

/** Connects to the mail server and logs in; sends no mail. */
export async function checkMail({ smtpUrl, folder }: Config['mail'], timeoutMs = TIMEOUT_MS): Promise<Finding[]> {
  if (smtpUrl === null) return [ok(`mail is written to ${folder} because SMTP_URL is not set`)];
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
    return [ok(`${host} accepts mail`)];
  } catch (error) {
    const { code = '' } = error as { code?: string };
    return [explainMailError(code, describeCause(error), host)];
  } finally {
    transport.close();
  }
}

function explainMailError(code: string, cause: string, host: string): Finding {
  if (code === 'EAUTH') {
    return problem(`${host} rejects the log-in: ${cause}`, 'Correct the user and the password in SMTP_URL.');
  }
  if (code === 'EDNS') {
    return problem(`The mail server ${host} is unknown: ${cause}`, 'Correct the host in SMTP_URL.');
  }
  if (code === 'ETLS' || /certificate|self.signed|altnames|wrong version number|SSL|TLS/i.test(cause)) {
    return problem(
      `No secure connection to ${host}: ${cause}`,
      'smtps:// uses TLS from the start, usually on port 465; smtp:// upgrades to it, usually on port 587. The certificate must match the host.',
    );
  }
  if (code === 'ETIMEDOUT') {
    return problem(`${host} does not answer in time: ${cause}`, 'Check the port in SMTP_URL and firewalls.');
  }
  return problem(
    `${host} cannot be reached: ${cause}`,
    'Correct the host and the port in SMTP_URL, or allow the connection.',
  );
}
