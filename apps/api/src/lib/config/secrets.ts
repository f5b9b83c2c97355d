import { randomBytes } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { ConfigError } from './environment.ts';
import { SECRETS } from './variables.ts';

export type Secrets = Record<(typeof SECRETS)[number], string>;

/** The id is stored with each ciphertext, so that keys can be rotated. */
export interface EncryptionKey {
  id: string;
  key: Buffer;
}

/** Standard or URL-safe alphabet, padded or not. `Buffer.from` would skip any other character. */
const BASE64_OF_32_BYTES = /^[\w+/-]{43}=?$/;

export function parseEncryptionKeys(value: string): EncryptionKey[] {
  const keys = value.split(',').map((entry) => {
    const [id = '', encoded = ''] = entry.includes(':') ? entry.trim().split(':', 2) : ['1', entry];
    if (!BASE64_OF_32_BYTES.test(encoded) || !/^[A-Za-z0-9_-]{1,32}$/.test(id)) {
      throw new ConfigError('ENCRYPTION_KEY takes base64 of 32 bytes, or several as id:base64,id:base64.');
    }
    return { id, key: Buffer.from(encoded, 'base64') };
  });
  // A ciphertext of the second key would be decrypted with the first.
  const duplicate = keys.find(({ id }, index) => keys.findIndex((other) => other.id === id) < index);
  if (duplicate) {
    throw new ConfigError(`ENCRYPTION_KEY lists two keys with the id "${duplicate.id}": give each one of its own.`);
  }
  return keys;
}

/**
 * Reads the generated secrets of `dataDir`, generating them first if they are missing. Safe for processes that start
 * together: `link` creates the complete file or fails, and then the file of the other process is read.
 */
export function readGeneratedSecrets(dataDir: string): Secrets {
  const path = resolve(dataDir, 'secrets.json');
  const read = () => JSON.parse(readFileSync(path, 'utf8'));
  try {
    return read();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw new ConfigError(`${path} cannot be read.`);
  }
  mkdirSync(dataDir, { recursive: true });
  const generated = Object.fromEntries(SECRETS.map((name) => [name, randomBytes(32).toString('base64')]));
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, `${JSON.stringify(generated, null, 2)}\n`, { mode: 0o600 });
  try {
    linkSync(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(draft);
  }
  return read();
}
