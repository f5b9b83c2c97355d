import { isUuid, parseId } from '@carillon/contract/primitives';
import jwt from '@fastify/jwt';
import Fastify from 'fastify';
import type { Config } from '../config/config.ts';
import type { SessionClaims, SessionTokens } from '../context.ts';
import { SESSION_SECONDS } from './sessions.ts';

const ALGORITHM = 'HS256';
const ISSUER = 'carillon';
/** Excludes tokens that are signed with the same secret for another purpose. */
const AUDIENCE = 'carillon:session';

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
      cache: false,
    },
  });
  return {
    sign({ userId, sessionId }, at) {
      const iat = Math.floor(at.getTime() / 1000);
      const exp = iat + SESSION_SECONDS;
      return app.jwt.sign({ iss: ISSUER, aud: AUDIENCE, sub: String(userId), sid: sessionId, iat, exp });
    },
    verify(token, at) {
      try {
        return hasCanonicalSignature(token) ? readClaims(app.jwt.verify(token), at) : null;
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
