import { createHmac } from 'node:crypto';
import t from 'tap';
import { SESSION_SECONDS } from '../../src/product/auth/sessions.ts';
import { createSessionTokens } from '../../src/product/auth/tokens.ts';
import { forgeToken, INVALID_TOKENS, NOW, SESSION_ID, TOKEN_SECRET } from '../support/tokens.ts';

const tokens = await createSessionTokens({ jwtSecret: TOKEN_SECRET });
const at = (seconds: number) => new Date(NOW.getTime() + seconds * 1000);

t.test('A token carries its session for 7 days', async (t) => {
  const token = tokens.sign({ userId: 7, sessionId: SESSION_ID }, NOW);
  const claims = { userId: 7, sessionId: SESSION_ID };
  t.same(tokens.verify(token, NOW), claims);
  t.same(tokens.verify(token, at(SESSION_SECONDS - 1)), claims);
  t.equal(tokens.verify(token, at(SESSION_SECONDS + 1)), null);
});

t.test('A token is signed with HS256 and has issuer, audience, subject, session and expiry', async (t) => {
  const token = tokens.sign({ userId: 7, sessionId: SESSION_ID }, NOW);
  const [header, payload] = token.split('.').map((part) => Buffer.from(part, 'base64url').toString());
  t.same(JSON.parse(header ?? ''), { alg: 'HS256', typ: 'JWT' });
  const iat = NOW.getTime() / 1000;
  const names = { iss: 'carillon', aud: 'carillon:session', sub: '7', sid: SESSION_ID };
  t.same(JSON.parse(payload ?? ''), { ...names, iat, exp: iat + SESSION_SECONDS });
});

t.test('A forged token with the right claims passes, so that each one below fails for its own reason', async (t) => {
  t.same(tokens.verify(forgeToken({}), NOW), { userId: 7, sessionId: SESSION_ID });
});

t.test('Any other text is not a session, and never an error', async (t) => {
  for (const [what, token] of Object.entries(INVALID_TOKENS)) t.equal(tokens.verify(token, NOW), null, what);
  t.ok(Object.keys(INVALID_TOKENS).length >= 30);
});

t.test('A token signed with another secret is not a session', async (t) => {
  const others = await createSessionTokens({ jwtSecret: `${TOKEN_SECRET}x` });
  const token = others.sign({ userId: 7, sessionId: SESSION_ID }, NOW);
  t.equal(tokens.verify(token, NOW), null);
});

t.test('Every single changed character voids a token', async (t) => {
  const token = tokens.sign({ userId: 7, sessionId: SESSION_ID }, NOW);
  for (let place = 0; place < token.length; place++) {
    for (const letter of ['A', 'B', 'C', 'D', '_', '.', '=']) {
      if (token[place] === letter) continue;
      const changed = token.slice(0, place) + letter + token.slice(place + 1);
      if (tokens.verify(changed, NOW) !== null) t.fail(`${letter} at ${place} passes`);
    }
  }
  t.pass();
});

t.test('The signature covers header and payload', async (t) => {
  const signed = forgeToken({ sub: '8' });
  const [header, payload] = signed.split('.');
  const mac = createHmac('sha256', TOKEN_SECRET).update(`${header}.${payload}`).digest('base64url');
  t.equal(signed, `${header}.${payload}.${mac}`);
  t.same(tokens.verify(signed, NOW), { userId: 8, sessionId: SESSION_ID });
});

t.test('A token ends after 7 days, whatever its exp says', async (t) => {
  for (const exp of [NOW.getTime() / 1000 + 8 * 86_400, 1e300]) {
    const token = forgeToken({ exp });
    t.ok(tokens.verify(token, at(SESSION_SECONDS - 1)));
    t.equal(tokens.verify(token, at(SESSION_SECONDS + 1)), null);
  }
});
