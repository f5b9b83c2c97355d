import { createSigner, createVerifier } from 'fast-jwt';
import type { Config } from '../config/config.ts';

/** A session lasts 7 days (specification "Session"). */
export const SESSION_SECONDS = 7 * 24 * 60 * 60;

const ALGORITHM = 'HS256';
const ISSUER = 'carillon';
/** Keeps a token that is signed with the same secret for another purpose from being taken for a session. */
const AUDIENCE = 'carillon:session';
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export interface SessionClaims {
  userId: number;
  sessionId: string;
}

type Secret = Pick<Config, 'jwtSecret'>;

/** The JWT that carries a session, in the cookie and as bearer token alike; expires 7 days after `at`. */
export function signToken(config: Secret, { userId, sessionId }: SessionClaims, at: Date): string {
  const iat = Math.floor(at.getTime() / 1000);
  return createSigner({ key: config.jwtSecret, algorithm: ALGORITHM })({
    iss: ISSUER,
    aud: AUDIENCE,
    sub: String(userId),
    sid: sessionId,
    iat,
    exp: iat + SESSION_SECONDS,
  });
}

/** What a token claims, or null for anything but a token of ours that is valid at `at`: it never throws. */
export function verifyToken(config: Secret, token: string, at: Date): SessionClaims | null {
  try {
    if (!hasCanonicalSignature(token)) return null;
    return readClaims(verifierOf(config)(token), at);
  } catch {
    return null;
  }
}

type Verify = (token: string) => Record<string, unknown>;
const verifiers = new WeakMap<Secret, Verify>();

/** Made once: it would read the key anew each time. The clock, which it is not given, is looked at in `readClaims`. */
function verifierOf(config: Secret): Verify {
  const known: Verify =
    verifiers.get(config) ??
    createVerifier({
      key: config.jwtSecret,
      algorithms: [ALGORITHM],
      allowedIss: ISSUER,
      allowedAud: AUDIENCE,
      requiredClaims: ['iss', 'aud', 'sub', 'sid', 'iat', 'exp'],
      ignoreExpiration: true,
      cache: false,
    });
  verifiers.set(config, known);
  return known;
}

/** The last character of a 32-byte signature has two spare bits: without this, four spellings of a token would pass. */
function hasCanonicalSignature(token: string): boolean {
  const signature = token.slice(token.lastIndexOf('.') + 1);
  return Buffer.from(signature, 'base64url').toString('base64url') === signature;
}

function readClaims({ sub, sid, iat, exp, nbf }: Record<string, unknown>, at: Date): SessionClaims | null {
  if (typeof iat !== 'number' || typeof exp !== 'number' || !(exp - iat <= SESSION_SECONDS)) return null;
  // Ours say nothing of a time before which they would not hold.
  if (!(at.getTime() < exp * 1000) || nbf !== undefined) return null;
  if (typeof sub !== 'string' || !/^[1-9]\d{0,9}$/.test(sub) || Number(sub) > 2 ** 31 - 1) return null;
  if (typeof sid !== 'string' || !UUID.test(sid)) return null;
  return { userId: Number(sub), sessionId: sid };
}
