import type { Config } from '../lib/config/config.ts';

interface Started {
  url: string;
  setupPath: string | null;
}

/**
 * What a person opens once Carillon runs: one address. The setup link is a secret, so in production it is only shown in a
 * terminal: anything else keeps what is printed, as the logs of containers do.
 */
export function describeAddress(
  { production, port, appUrl }: Pick<Config, 'production' | 'port' | 'appUrl'>,
  { url, setupPath }: Started,
  isTerminal = process.stdout.isTTY === true,
): string {
  // With PORT=0 the system chooses the port.
  const address = port === 0 ? url : appUrl;
  if (setupPath === null) return `Carillon runs at ${address}`;
  if (production && !isTerminal) {
    return `Carillon runs at ${address}\nThere is no account yet. Make the first admin: pnpm carillon setup-link, or pnpm carillon create-admin.`;
  }
  return `Carillon runs at ${address}${setupPath}\nOpen it within an hour to create the first account.`;
}
