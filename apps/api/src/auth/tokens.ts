import { isUuid, parseId } from '@carillon/contract/primitives';
import jwt from '@fastify/jwt';
import Fastify from 'fastify';
import type { Config } from '../config/config.ts';
import type { SessionClaims, SessionTokens } from '../context.ts';
import { SESSION_SECONDS } from './sessions.ts';

const ALGORITHM = 'HS256';
const ISSUER = 'carillon';
/** A token that is signed with the same secret for another purpose is not a session. */
const AUDIENCE = 'carillon:session';

/**
 * Creates the signer and verifier of session tokens, which are the same in the cookie and as a bearer token. The plugin
 * exists only on a Fastify instance; this one serves nothing, so that server actions without an HTTP server have it too.
 */
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

/** The last character of a 32-byte signature has two spare bits: without this, four spellings of a token would pass. */
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
