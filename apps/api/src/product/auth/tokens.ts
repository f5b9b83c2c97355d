import { createHash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { isUuid, parseId } from '@carillon/contract/validation/formats';
import jwt, { type FastifyJWTOptions, type JWT } from '@fastify/jwt';
import Fastify, { type FastifyInstance } from 'fastify';
import type { SessionClaims, SessionTokens } from '../../context.ts';
import type { Config } from '../../lib/config/config.ts';
import { SESSION_COOKIE } from '../../platform/http/credentials.ts';
import { SESSION_SECONDS } from './sessions.ts';

declare module '@fastify/jwt' {
  interface FastifyJWT {
    /** Null if the claims are not those of a session. */
    user: SessionClaims | null;
  }
}

const ALGORITHM = 'HS256';
const ISSUER = 'carillon';
/** Excludes tokens that are signed with the same secret for another purpose. */
const AUDIENCE = 'carillon:session';

const buildOptions = ({ jwtSecret }: Pick<Config, 'jwtSecret'>): FastifyJWTOptions => ({
  secret: jwtSecret,
  cookie: { cookieName: SESSION_COOKIE, signed: false },
  formatUser: readClaims,
  sign: { algorithm: ALGORITHM, iss: ISSUER, aud: AUDIENCE, expiresIn: SESSION_SECONDS },
  verify: {
    algorithms: [ALGORITHM],
    allowedIss: ISSUER,
    allowedAud: AUDIENCE,
    requiredClaims: ['iss', 'aud', 'sub', 'sid', 'iat', 'exp'],
    maxAge: SESSION_SECONDS,
    cache: false,
  },
});

/** Until an application or `createSessionTokens` replaces them: workers and commands need none. */
export const NO_TOKENS: SessionTokens = {
  sign() {
    throw new Error('This process has no session tokens.');
  },
  verify: () => null,
};

/** Session tokens of an application: `request.jwtVerify` for its requests, the result for everything else. */
export async function registerSessionTokens(
  app: FastifyInstance,
  config: Pick<Config, 'jwtSecret'>,
): Promise<SessionTokens> {
  await app.register(jwt, buildOptions(config));
  return toSessionTokens(app.jwt);
}

/** For processes without an HTTP server. Fastify is started for its plugin only. */
export const createSessionTokens = (config: Pick<Config, 'jwtSecret'>): Promise<SessionTokens> =>
  registerSessionTokens(Fastify(), config);

const toSessionTokens = (jwt: JWT): SessionTokens => ({
  sign: ({ userId, sessionId }, at) =>
    jwt.sign({ sub: String(userId), sid: sessionId, iat: Math.floor(at.getTime() / 1000) }),
  verify(token, at) {
    try {
      return readClaims(jwt.verify(token, { clockTimestamp: at.getTime() }));
    } catch {
      return null;
    }
  },
});

function readClaims(payload: unknown): SessionClaims | null {
  const { sub, sid } = payload as Record<string, unknown>;
  const userId = typeof sub === 'string' ? parseId(sub) : null;
  if (userId === null || typeof sid !== 'string' || !isUuid(sid)) return null;
  return { userId, sessionId: sid };
}

/** Secret scanners find keys by `crl_[0-9A-Za-z]{38}`. */
const PREFIX = 'crl_';
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RANDOM_LENGTH = 32;
const CHECKSUM_LENGTH = 6;
const KEY = /^crl_([0-9A-Za-z]{32})([0-9A-Za-z]{6})$/;
const SHOWN_LENGTH = 12;

/** 32 random characters and the checksum of these. */
export function generateApiKey(): string {
  const random = Array.from({ length: RANDOM_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
  return PREFIX + random + buildChecksum(random);
}

/** Whether a bearer token is meant as an API key: no session token starts like one. */
export const isApiKey = (token: string): boolean => token.startsWith(PREFIX);

/** Whether the key may exist: its checksum is right. */
export function isWellFormedApiKey(key: string): boolean {
  const [, random, checksum] = KEY.exec(key) ?? [];
  return random !== undefined && buildChecksum(random) === checksum;
}

/** A fast hash is enough, because the key has 190 random bits. */
export const hashApiKey = (key: string): string => createHash('sha256').update(key).digest('hex');

/** Whether a bearer token may be that of a connected app. */
export const isAccessToken = (token: string): boolean => /^[A-Za-z0-9_-]{43}$/.test(token);

/** The characters by which the owner recognises a key. */
export const toShownPrefix = (key: string): string => key.slice(0, SHOWN_LENGTH);

/** The CRC-32 in base 62, with leading zeros. */
function buildChecksum(random: string): string {
  let rest = crc32(random);
  let text = '';
  while (text.length < CHECKSUM_LENGTH) {
    text = ALPHABET[rest % ALPHABET.length] + text;
    rest = Math.floor(rest / ALPHABET.length);
  }
  return text;
}
