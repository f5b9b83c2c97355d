import { ConfigError, type EncryptionKey, SECRETS } from './secrets.ts';
import { findWeakness } from './weak-secrets.ts';

const LEAST_BYTES = 32;
const LOOPBACK = /^(localhost|.*\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

type Secrets = Record<(typeof SECRETS)[number], string>;

/** Refuses secrets that can be guessed (decisions §1), one line for each variable that has to be set anew. */
export function assertStrong(secrets: Secrets, encryptionKeys: readonly EncryptionKey[]): void {
  const seen = new Map<string, string>();
  for (const name of SECRETS) {
    const value = secrets[name];
    const parts = name === 'ENCRYPTION_KEY' ? encryptionKeys.map(({ key }) => key) : [Buffer.from(value)];
    for (const bytes of parts) {
      if (bytes.length < LEAST_BYTES)
        throw new ConfigError(`${name} is shorter than the ${LEAST_BYTES} bytes that production needs.`);
      const weakness = findWeakness(bytes);
      if (weakness) throw new ConfigError(`${name} ${weakness}: set it to random bytes (openssl rand -base64 32).`);
    }
    const twin = seen.get(value);
    if (twin)
      throw new ConfigError(
        `${name} is the same as ${twin}: set each to a secret of its own (openssl rand -base64 32).`,
      );
    seen.set(value, name);
  }
}

/** Refuses what only development may do, because a browser or a wire would give people's sessions away. */
export function assertPublic(settings: { BASE_URL: string; APP_URL: string; COOKIE_SECURE: boolean }): void {
  if (!settings.COOKIE_SECURE) throw new ConfigError('COOKIE_SECURE may be false in development only.');
  for (const name of ['BASE_URL', 'APP_URL'] as const) {
    const { protocol, hostname } = new URL(settings[name]);
    if (protocol === 'https:' || LOOPBACK.test(hostname)) continue;
    throw new ConfigError(
      `${name} is ${JSON.stringify(settings[name])}, but production takes an https address (http for localhost alone): set it to the address that the reverse proxy answers at.`,
    );
  }
}
