import { describeServers, listServers } from '@carillon/db/database-url';
import type { Migrated } from '@carillon/db/migrate';
import { describePooling, type Pooling } from '@carillon/db/pool/pooling';
import type { Provider } from '../lib/ai/providers.ts';
import { type Config, VERSION } from '../lib/config/config.ts';

export const OFFLINE = 'offline';

interface Started {
  databaseUrl: string;
  migrated: Migrated;
  pooling: Pooling;
  url: string;
  metricsUrl: string | undefined;
  providers: readonly Provider[];
}

/** The fields of the line that a process logs once it serves requests. Without secrets. */
export function describeStart(config: Config, { databaseUrl, migrated, pooling, url, metricsUrl, providers }: Started) {
  const { pathname } = new URL(listServers(databaseUrl)[0]);
  return {
    version: VERSION,
    node: process.versions.node,
    database: `${describeServers(databaseUrl)}${pathname}${config.databaseUrl === null ? ' (embedded)' : ''}`,
    reached: describePooling(pooling),
    postgres: migrated.serverVersion,
    schema: migrated.newest || 'of a newer version',
    migrationsApplied: migrated.applied,
    provider: describeProviders(config.ai, providers),
    storage: describeStorage(config.storage),
    mail: config.mail.smtpUrl === null ? config.mail.folder : withoutUser(config.mail.smtpUrl),
    url,
    baseUrl: config.baseUrl,
    docs: `${config.baseUrl}/api/docs`,
    ...(metricsUrl && { metrics: metricsUrl }),
  };
}

function describeProviders({ baseUrl, anthropicApiKey }: Config['ai'], providers: readonly Provider[]): string {
  const names = [
    ...(baseUrl === null || baseUrl === OFFLINE ? [] : [withoutUser(baseUrl)]),
    ...(anthropicApiKey === null ? [] : ['Anthropic']),
    ...providers.filter(({ source }) => source === 'settings').map(({ name }) => name),
  ];
  return names.join(', ') || OFFLINE;
}

function describeStorage(storage: Config['storage']): string {
  if (storage.driver === 'base64') return 'database';
  return storage.driver === 'disk' ? storage.folder : `s3 bucket ${storage.s3.bucket}`;
}

function withoutUser(address: string): string {
  const { protocol, host, pathname } = new URL(address);
  return `${protocol}//${host}${pathname === '/' ? '' : pathname}`;
}
