import { ConfigError } from './environment.ts';
import type { EncryptionKey, Secrets } from './secrets.ts';
import { SECRETS } from './variables.ts';

const MIN_SECRET_BYTES = 32;
const LOOPBACK = /^(localhost|.*\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;
const PLACEHOLDER =
  /change.?(me|it|this)|replace.?(me|it|this)|placeholder|example|password|default|insecure|your.?(own|key|secret)|to.?be.?set/i;
/** 32 random bytes have this many different ones with near certainty, also when written as hexadecimal digits. */
const MIN_DIFFERENT_CHARACTERS = 8;

/** Throws a `ConfigError` that names a secret that is too short, guessable, or used twice. */
export function assertStrongSecrets(secrets: Secrets, encryptionKeys: readonly EncryptionKey[]): void {
  const nameByValue = new Map<string, string>();
  for (const name of SECRETS) {
    const value = secrets[name];
    const parts = name === 'ENCRYPTION_KEY' ? encryptionKeys.map(({ key }) => key) : [Buffer.from(value)];
    for (const bytes of parts) {
      if (bytes.length < MIN_SECRET_BYTES) {
        throw new ConfigError(`${name} is shorter than the ${MIN_SECRET_BYTES} bytes that production needs.`);
      }
      const weakness = findWeakness(bytes);
      if (weakness) throw new ConfigError(`${name} ${weakness}: set it to random bytes (openssl rand -base64 32).`);
    }
    const twin = nameByValue.get(value);
    if (twin) {
      throw new ConfigError(
        `${name} is the same as ${twin}. Set each to a different secret (openssl rand -base64 32).`,
      );
    }
    nameByValue.set(value, name);
  }
}

const HTTPS_FIXES = {
  BASE_URL: 'Set it to the public URL of the reverse proxy.',
  APP_URL: 'Set it to the https URL of the web application.',
  CORS_ORIGINS: 'List the https origins of the web applications.',
};

/** Throws a `ConfigError` for URLs over which session cookies or tokens would be sent without encryption. */
export function assertHttps(settings: Readonly<Record<keyof typeof HTTPS_FIXES, readonly string[]>>): void {
  for (const [name, fix] of Object.entries(HTTPS_FIXES) as [keyof typeof HTTPS_FIXES, string][]) {
    for (const url of settings[name]) {
      const { protocol, hostname } = new URL(url);
      if (protocol === 'https:' || LOOPBACK.test(hostname)) continue;
      throw new ConfigError(
        `${name} is ${JSON.stringify(url)}, but production needs an https URL (http only for localhost). ${fix}`,
      );
    }
  }
}

/** Why a secret of sufficient length is guessable; null if it looks random. */
function findWeakness(secret: Buffer): string | null {
  const text = secret.toString('latin1');
  if (PLACEHOLDER.test(text)) return 'looks like a placeholder';
  if (new Set(text).size < MIN_DIFFERENT_CHARACTERS) return 'has too few different characters';
  if (isRepetition(text)) return 'repeats itself';
  if (isSequence(text)) return 'is a sequence';
  return null;
}

/** Whether one piece repeats; the last may be cut off. */
function isRepetition(text: string): boolean {
  for (let length = 1; length <= text.length / 2; length++) {
    if (text.slice(length) === text.slice(0, -length)) return true;
  }
  return false;
}

/** Whether most characters follow or precede the one before them in the alphabet, as in `abcdef…` or `9876543210…`. */
function isSequence(text: string): boolean {
  let neighbours = 0;
  for (let index = 1; index < text.length; index++) {
    if (Math.abs(text.charCodeAt(index) - text.charCodeAt(index - 1)) === 1) neighbours += 1;
  }
  return neighbours > text.length / 2;
}
