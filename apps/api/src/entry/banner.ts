import { getTexts, negotiateLanguage, type Texts } from '@carillon/texts';
import type { Config } from '../lib/config/config.ts';
import type { Environment } from '../lib/config/environment.ts';
import { OFFLINE } from './describe-start.ts';

interface Started {
  url: string;
  setupPath: string | null;
  provider: string;
  mail: string;
}

/** The address that a person opens once Carillon runs. */
export function chooseAddress(
  { port, appUrl }: Pick<Config, 'port' | 'appUrl'>,
  { url, setupPath }: Pick<Started, 'url' | 'setupPath'>,
): string {
  // With PORT=0 the system chooses the port.
  return `${port === 0 ? url : appUrl}${setupPath ?? ''}`;
}

/** What a start prints for a person: the address first. */
export function composeBanner(
  config: Pick<Config, 'port' | 'appUrl'> & { mail: Pick<Config['mail'], 'smtpUrl'> },
  started: Started,
  { terminal }: Pick<Texts, 'terminal'>,
): string {
  const { provider, mail, setupPath } = started;
  const lines = [
    terminal.runsAt(chooseAddress(config, started)),
    ...(setupPath === null ? [] : [terminal.openSoon]),
    '',
    terminal.provider(provider === OFFLINE ? terminal.offline : provider),
    terminal.mail(config.mail.smtpUrl === null ? terminal.mailFolder(mail) : mail),
  ];
  return lines.join('\n');
}

/** In the language of the terminal, such as `LANG=pt_BR.UTF-8`. */
export function getTerminalTexts(env: Environment) {
  const locale = env.LC_ALL || env.LC_MESSAGES || env.LANG || '';
  return getTexts(negotiateLanguage(locale.replace('_', '-')));
}
