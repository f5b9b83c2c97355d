import { createHmac, generateKeyPairSync, sign as signWith } from 'node:crypto';

export const SECRET = 'a-secret-for-tests-of-forty-four-characters!';
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
export function forge(claims: Record<string, unknown> | string, header: object = {}, hash = 'sha256'): string {
  const payload = typeof claims === 'string' ? claims : { ...CLAIMS, ...claims };
  const input = `${encode({ alg: 'HS256', typ: 'JWT', ...header })}.${encode(payload)}`;
  return `${input}.${createHmac(hash, SECRET).update(input).digest('base64url')}`;
}

const good = forge({});
const [header = '', payload = '', signature = ''] = good.split('.');

function signedWithKeyPair(): string {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const input = `${encode({ alg: 'RS256', typ: 'JWT' })}.${payload}`;
  return `${input}.${signWith('sha256', Buffer.from(input), privateKey).toString('base64url')}`;
}

/** Texts that are not a valid token, by what is wrong with them. */
export const ALIEN_TOKENS: Record<string, string> = {
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
  'alg none with a signature': forge({}, { alg: 'none' }),
  'alg NONE': forge({}, { alg: 'NONE' }),
  'alg hs256': forge({}, { alg: 'hs256' }),
  'no alg': forge({}, { alg: undefined }),
  'alg an array': forge({}, { alg: ['HS256'] }),
  HS384: forge({}, { alg: 'HS384' }, 'sha384'),
  HS512: forge({}, { alg: 'HS512' }, 'sha512'),
  RS256: signedWithKeyPair(),
  'an unknown crit': forge({}, { crit: ['b64'], b64: false }),
  'an empty crit': forge({}, { crit: [] }),
  'a crit that is text': forge({}, { crit: 'exp' }),
  'a payload that is null': forge('null'),
  'a payload that is an array': forge('[]'),
  'a payload that is a number': forge('7'),
  'a payload that is text': forge('"x"'),
  'a payload that is no JSON': forge('{"sub":'),
  'a payload of 20,000 levels': forge('['.repeat(20_000)),
  'no exp': forge({ exp: undefined }),
  'exp as text': forge({ exp: String(CLAIMS.exp) }),
  'exp null': forge({ exp: null }),
  'exp in an array': forge({ exp: [CLAIMS.exp] }),
  'exp an hour ago': forge({ iat: seconds - DAY, exp: seconds - 3600 }),
  'exp in 8 days': forge({ exp: seconds + 8 * DAY }),
  'exp beyond all dates': forge({ exp: 1e300 }),
  'exp before all dates': forge({ exp: -1e300 }),
  'no iat': forge({ iat: undefined }),
  'iat as text': forge({ iat: String(seconds) }),
  'nbf in the future': forge({ nbf: seconds + 60 }),
  'nbf as text': forge({ nbf: 'yesterday' }),
  'no iss': forge({ iss: undefined }),
  'another iss': forge({ iss: 'carillon.example' }),
  'no aud': forge({ aud: undefined }),
  'another aud': forge({ aud: 'carillon:csrf' }),
  'no sub': forge({ sub: undefined }),
  'sub as a number': forge({ sub: 7 }),
  'sub null': forge({ sub: null }),
  'sub 0': forge({ sub: '0' }),
  'sub with a sign': forge({ sub: '-7' }),
  'sub beyond 32 bits': forge({ sub: '2147483648' }),
  'sub that is SQL': forge({ sub: '7 or 1=1' }),
  'sub with a NUL': forge({ sub: '7\0' }),
  'no sid': forge({ sid: undefined }),
  'sid no UUID': forge({ sid: 'x' }),
  'sid with a NUL': forge({ sid: `${SESSION_ID}\0` }),
  'sid as a number': forge({ sid: 7 }),
  'sid an object': forge({ sid: {} }),
};
