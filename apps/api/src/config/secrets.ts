import { randomBytes } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';

/** A setting that cannot be used; the message is the one line that stops the start. */
export class ConfigError extends Error {}

export const SECRETS = ['JWT_SECRET', 'ENCRYPTION_KEY', 'CRON_SECRET', 'ADMIN_KEY'] as const;

/** A key that seals secrets; `id` is written in front of what it sealed, so that keys can be rotated. */
export interface EncryptionKey {
  id: string;
  key: Buffer;
}

/** With the alphabet of addresses or without, padded or not; decoding would pass over whatever else stands there. */
const BASE64_OF_32 = /^[\w+/-]{43}=?$/;

export function parseEncryptionKeys(value: string): EncryptionKey[] {
  const keys = value.split(',').map((entry) => {
    const [id, encoded] = entry.includes(':') ? entry.trim().split(':', 2) : ['1', entry];
    const key = Buffer.from(encoded ?? '', 'base64');
    if (!BASE64_OF_32.test(encoded ?? '') || !/^[A-Za-z0-9_-]{1,32}$/.test(id ?? '')) {
      throw new ConfigError('ENCRYPTION_KEY takes base64 of 32 bytes, or several as id:base64,id:base64.');
    }
    return { id: id as string, key };
  });
  const twice = keys.find(({ id }, at) => keys.findIndex((other) => other.id === id) < at);
  // What was sealed under the second one would be tried with the first.
  if (twice)
    throw new ConfigError(`ENCRYPTION_KEY lists two keys with the id "${twice.id}": give each one of its own.`);
  return keys;
}

/**
 * The secrets that development needs, made once and kept in `dataDir`. Two processes that start together agree:
 * the file appears whole under its name, and the one that came second reads what the first has written.
 */
export function developmentSecrets(dataDir: string): Record<(typeof SECRETS)[number], string> {
  const path = resolve(dataDir, 'secrets.json');
  const read = () => JSON.parse(readFileSync(path, 'utf8'));
  try {
    return read();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw new ConfigError(`${path} cannot be read.`);
  }
  mkdirSync(dataDir, { recursive: true });
  const fresh = Object.fromEntries(SECRETS.map((name) => [name, randomBytes(32).toString('base64')]));
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, `${JSON.stringify(fresh, null, 2)}\n`, { mode: 0o600 });
  try {
    linkSync(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(draft);
  }
  return read();
}
