import { isUuid, parseId } from '@carillon/contract/primitives';
import jwt from '@fastify/jwt';
import Fastify from 'fastify';
import { LRUCache } from 'lru-cache';
import type { Config } from '../config/config.ts';
import type { SessionClaims, SessionTokens } from '../context.ts';
import { SESSION_SECONDS } from './sessions.ts';

const ALGORITHM = 'HS256';
const ISSUER = 'carillon';
/** Excludes tokens that are signed with the same secret for another purpose. */
const AUDIENCE = 'carillon:session';
/** Each takes about 1 KB. */
const MAX_VERIFIED = 5000;

/** Starts Fastify for its plugin only, because server actions need tokens without an HTTP server. */
export async function createSessionTokens({ jwtSecret }: Pick<Config, 'jwtSecret'>): Promise<SessionTokens> {
  const app = Fastify();
  await app.register(jwt, {
    secret: jwtSecret,
    sign: { algorithm: ALGORITHM },
    verify: {
      algorithms: [ALGORITHM],
      allowedIss: ISSUER,
      allowedAud: AUDIENCE,
      requiredClaims: ['iss', 'aud', 'sub', 'sid', 'iat', 'exp'],
      // `readClaims` compares with the clock of the context.
      ignoreExpiration: true,
      // The library's own cache is keyed by a hash, which costs as much as checking the signature.
      cache: false,
    },
  });
  /**
   * The claims of whole tokens whose signature was right, which takes a tenth of a request to check. Whether they have
   * expired is checked each time, and their session by the database.
   */
  const verified = new LRUCache<string, Record<string, unknown>>({ max: MAX_VERIFIED });

  function verifySignature(token: string): Record<string, unknown> | null {
    if (!hasCanonicalSignature(token)) return null;
    const claims = app.jwt.verify<Record<string, unknown>>(token);
    verified.set(token, claims);
    return claims;
  }

  return {
    sign({ userId, sessionId }, at) {
      const iat = Math.floor(at.getTime() / 1000);
      const exp = iat + SESSION_SECONDS;
      return app.jwt.sign({ iss: ISSUER, aud: AUDIENCE, sub: String(userId), sid: sessionId, iat, exp });
    },
    verify(token, at) {
      try {
        const claims = verified.get(token) ?? verifySignature(token);
        return claims && readClaims(claims, at);
      } catch {
        return null;
      }
    },
  };
}

/** The last character has two spare bits: four spellings of a token would pass. */
function hasCanonicalSignature(token: string): boolean {
  const signature = token.slice(token.lastIndexOf('.') + 1);
  return Buffer.from(signature, 'base64url').toString('base64url') === signature;
}

function readClaims({ sub, sid, iat, exp, nbf }: Record<string, unknown>, at: Date): SessionClaims | null {
  if (typeof iat !== 'number' || typeof exp !== 'number' || !(exp - iat <= SESSION_SECONDS)) return null;
  if (!(at.getTime() < exp * 1000) || nbf !== undefined) return null;
  const userId = typeof sub === 'string' ? parseId(sub) : null;
  if (userId === null || typeof sid !== 'string' || !isUuid(sid)) return null;
  return { userId, sessionId: sid };
}
