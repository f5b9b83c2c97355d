import { createHmac, generateKeyPairSync, sign as signWith } from 'node:crypto';

export const TOKEN_SECRET = 'a-secret-for-tests-of-forty-four-characters!';
export const NOW = new Date('2026-11-20T10:00:00.000Z');
export const SESSION_ID = '0b1f6a5e-6a0e-4c55-9a1d-0c7a3f5f1b2c';

const seconds = NOW.getTime() / 1000;
const DAY = 86_400;
const encode = (value: unknown) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');

const CLAIMS = {
  iss: 'carillon',
  aud: 'carillon:session',
  sub: '7',
  sid: SESSION_ID,
  iat: seconds,
  exp: seconds + 7 * DAY,
};

/** A token with our secret and changed claims; `undefined` removes a claim. Text replaces the whole payload. */
export function forgeToken(claims: Record<string, unknown> | string, header: object = {}, hash = 'sha256'): string {
  const payload = typeof claims === 'string' ? claims : { ...CLAIMS, ...claims };
  const input = `${encode({ alg: 'HS256', typ: 'JWT', ...header })}.${encode(payload)}`;
  return `${input}.${createHmac(hash, TOKEN_SECRET).update(input).digest('base64url')}`;
}

const good = forgeToken({});
const [header = '', payload = '', signature = ''] = good.split('.');

function signedWithKeyPair(): string {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const input = `${encode({ alg: 'RS256', typ: 'JWT' })}.${payload}`;
  return `${input}.${signWith('sha256', Buffer.from(input), privateKey).toString('base64url')}`;
}

/** Texts that are not a valid token, by what is wrong with them. */
export const INVALID_TOKENS: Record<string, string> = {
  'empty text': '',
  'no token at all': 'hello',
  'two parts': `${header}.${payload}`,
  'four parts': `${good}.${signature}`,
  'only dots': '..',
  'no signature': `${header}.${payload}.`,
  'no payload': `${header}..${signature}`,
  'no header': `.${payload}.${signature}`,
  'a stray = at the end': `${good}=`,
  'a stray = in the payload': `${header}.${payload}=.${signature}`,
  'a space before': ` ${good}`,
  'a line break after': `${good}\n`,
  'standard base64 letters': `${header}.${payload}.${signature.slice(0, -1)}+`,
  'a header that is no JSON': `${encode('{')}.${payload}.${signature}`,
  'a header that is an array': `${encode([])}.${payload}.${signature}`,
  'a header that is null': `${encode(null)}.${payload}.${signature}`,
  'alg none': `${encode({ alg: 'none' })}.${payload}.`,
  'alg none with a signature': forgeToken({}, { alg: 'none' }),
  'alg NONE': forgeToken({}, { alg: 'NONE' }),
  'alg hs256': forgeToken({}, { alg: 'hs256' }),
  'no alg': forgeToken({}, { alg: undefined }),
  'alg an array': forgeToken({}, { alg: ['HS256'] }),
  HS384: forgeToken({}, { alg: 'HS384' }, 'sha384'),
  HS512: forgeToken({}, { alg: 'HS512' }, 'sha512'),
  RS256: signedWithKeyPair(),
  'an unknown crit': forgeToken({}, { crit: ['b64'], b64: false }),
  'an empty crit': forgeToken({}, { crit: [] }),
  'a crit that is text': forgeToken({}, { crit: 'exp' }),
  'a payload that is null': forgeToken('null'),
  'a payload that is an array': forgeToken('[]'),
  'a payload that is a number': forgeToken('7'),
  'a payload that is text': forgeToken('"x"'),
  'a payload that is no JSON': forgeToken('{"sub":'),
  'a payload of 20,000 levels': forgeToken('['.repeat(20_000)),
  'no exp': forgeToken({ exp: undefined }),
  'exp as text': forgeToken({ exp: String(CLAIMS.exp) }),
  'exp null': forgeToken({ exp: null }),
  'exp in an array': forgeToken({ exp: [CLAIMS.exp] }),
  'exp an hour ago': forgeToken({ iat: seconds - DAY, exp: seconds - 3600 }),
  'exp before all dates': forgeToken({ exp: -1e300 }),
  'no iat': forgeToken({ iat: undefined }),
  'iat as text': forgeToken({ iat: String(seconds) }),
  'nbf in the future': forgeToken({ nbf: seconds + 60 }),
  'nbf as text': forgeToken({ nbf: 'yesterday' }),
  'no iss': forgeToken({ iss: undefined }),
  'another iss': forgeToken({ iss: 'carillon.example' }),
  'no aud': forgeToken({ aud: undefined }),
  'another aud': forgeToken({ aud: 'carillon:csrf' }),
  'no sub': forgeToken({ sub: undefined }),
  'sub as a number': forgeToken({ sub: 7 }),
  'sub null': forgeToken({ sub: null }),
  'sub 0': forgeToken({ sub: '0' }),
  'sub with a sign': forgeToken({ sub: '-7' }),
  'sub beyond 32 bits': forgeToken({ sub: '2147483648' }),
  'sub that is SQL': forgeToken({ sub: '7 or 1=1' }),
  'sub with a NUL': forgeToken({ sub: '7\0' }),
  'no sid': forgeToken({ sid: undefined }),
  'sid no UUID': forgeToken({ sid: 'x' }),
  'sid with a NUL': forgeToken({ sid: `${SESSION_ID}\0` }),
  'sid as a number': forgeToken({ sid: 7 }),
  'sid an object': forgeToken({ sid: {} }),
};
