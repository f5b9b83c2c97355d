import type { Config } from '@carillon/api/config/config';
import { createTransport } from 'nodemailer';
import { type Finding, findingsOf, messageOf } from './finding.ts';

const { ok, fault } = findingsOf('mail');
const PATIENCE_MS = 10_000;

/** Connects to the mail server as the service does, and signs in; no mail is sent. */
export async function examineMail({ smtpUrl, folder }: Config['mail'], patienceMs = PATIENCE_MS): Promise<Finding[]> {
  if (smtpUrl === null) return [ok(`mail is written to ${folder}, as SMTP_URL is not set`)];
  const { host } = new URL(smtpUrl);
  const transport = createTransport({
    url: smtpUrl,
    connectionTimeout: patienceMs,
    dnsTimeout: patienceMs,
    greetingTimeout: patienceMs,
    socketTimeout: patienceMs,
  });
  try {
    await transport.verify();
    return [ok(`${host} takes mail`)];
  } catch (error) {
    const { code = '' } = error as { code?: string };
    return [explain(code, messageOf(error), host)];
  } finally {
    transport.close();
  }
}

function explain(code: string, said: string, host: string): Finding {
  if (code === 'EAUTH')
    return fault(`${host} refuses the log-in: ${said}`, 'Correct the user and the password in SMTP_URL.');
  if (code === 'EDNS') return fault(`The mail server ${host} is unknown: ${said}`, 'Correct the host in SMTP_URL.');
  if (code === 'ETLS' || /certificate|self.signed|altnames|wrong version number|SSL|TLS/i.test(said)) {
    return fault(
      `No secure connection to ${host}: ${said}`,
      'smtps:// is TLS from the start, mostly at port 465, and smtp:// goes over to it, mostly at 587; the certificate has to fit the host.',
    );
  }
  if (code === 'ETIMEDOUT')
    return fault(`${host} does not answer in time: ${said}`, 'Look at the port in SMTP_URL and at firewalls.');
  return fault(
    `${host} cannot be reached: ${said}`,
    'Correct the host and the port in SMTP_URL, or open the way to it.',
  );
}
