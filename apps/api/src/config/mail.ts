import { join } from 'node:path';
import { type Environment, readVariable } from './read.ts';
import { ConfigError } from './secrets.ts';

interface Surroundings {
  production: boolean;
  appUrl: string;
  dataDir: string;
}

/**
 * Where mail goes: to the server of `SMTP_URL`, else as files into `DATA_DIR/mail`, which only development may do
 * (decisions §1). Without `MAIL_FROM` it comes from the host of `APP_URL`.
 */
export function readMail(env: Environment, { production, appUrl, dataDir }: Surroundings) {
  const smtpUrl = readVariable(env, 'SMTP_URL');
  if (production && smtpUrl === null) {
    throw new ConfigError(
      'Production needs SMTP_URL: the address of a mail server, such as smtps://user:password@host.',
    );
  }
  const from = readVariable(env, 'MAIL_FROM') ?? `Carillon <no-reply@${new URL(appUrl).hostname}>`;
  return { smtpUrl, from, folder: join(dataDir, 'mail') };
}
