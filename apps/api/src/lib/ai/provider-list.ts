import { type Db, providers } from '@carillon/db';
import { asc } from 'drizzle-orm';
import type { Config } from '../config/config.ts';
import type { EncryptionKey } from '../config/secrets.ts';
import { columnAad, decrypt, encrypt } from '../crypto/encryption.ts';
import { joinProviders, type Provider, type Providers } from './providers.ts';

export interface ProviderList {
  /**
   * At most 2 s old; an earlier list while the database is unavailable. The same list is the same object. A transaction
   * passes its `db`: waiting for another connection could wait for itself.
   */
  load(tx?: Db): Promise<Providers>;
  /** Lets the next `load` read again. */
  forget(): void;
}

const FRESH_MS = 2000;

/** The providers of the environment alone. */
export function fixProviders(settings: Config['ai']): ProviderList {
  const providers = joinProviders(settings, []);
  return { load: async () => providers, forget() {} };
}

/** Those of the environment and of the settings. */
export function createProviderList(
  db: Db,
  config: { ai: Config['ai']; encryptionKeys: readonly EncryptionKey[] },
): ProviderList {
  let known: { text: string; providers: Providers } | null = null;
  let freshUntil = 0;
  let reading: Promise<Providers> | null = null;
  let version = 0;

  async function read(from: Db): Promise<Providers> {
    const versionBefore = version;
    const startedAt = performance.now();
    const rows = await selectProviders(from).catch((error) => {
      if (known === null) throw error;
      return null;
    });
    if (rows !== null) {
      const text = JSON.stringify(rows);
      if (known?.text !== text) {
        const stored = rows.map((row) => toProvider(config.encryptionKeys, row));
        known = { text, providers: joinProviders(config.ai, stored) };
      }
      if (version === versionBefore) freshUntil = startedAt + FRESH_MS;
    }
    return (known as NonNullable<typeof known>).providers;
  }

  return {
    async load(tx) {
      if (known && performance.now() < freshUntil) return known.providers;
      if (tx) return read(tx);
      reading ??= read(db).finally(() => {
        reading = null;
      });
      return reading;
    },
    forget() {
      version += 1;
      freshUntil = 0;
      reading = null;
    },
  };
}

type ProviderRow = Pick<
  typeof providers.$inferSelect,
  'id' | 'name' | 'kind' | 'baseUrl' | 'apiKeyEncrypted' | 'maxConcurrent'
>;

const selectProviders = (db: Db): Promise<ProviderRow[]> => {
  const { id, name, kind, baseUrl, apiKeyEncrypted, maxConcurrent, createdAt } = providers;
  return db
    .select({ id, name, kind, baseUrl, apiKeyEncrypted, maxConcurrent })
    .from(providers)
    .orderBy(asc(createdAt), asc(id));
};

function toProvider(keys: readonly EncryptionKey[], { apiKeyEncrypted, ...row }: ProviderRow): Provider {
  return { ...row, apiKey: decryptKey(keys, row.id, apiKeyEncrypted), source: 'settings' };
}

function decryptKey(keys: readonly EncryptionKey[], id: string, ciphertext: string | null): Provider['apiKey'] {
  if (ciphertext === null) return null;
  try {
    return { value: decrypt(keys, ciphertext, columnAad('providers.api_key_encrypted', id)) };
  } catch {
    return 'unreadable';
  }
}

export const encryptApiKey = (keys: readonly EncryptionKey[], id: string, apiKey: string): string =>
  encrypt(keys, apiKey, columnAad('providers.api_key_encrypted', id));
