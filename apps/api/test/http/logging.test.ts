import { users } from '@carillon/db';
import t from 'tap';
import { AppError } from '../../src/errors.ts';
import { testContext } from '../support/context.ts';
import { signUpAlice } from '../support/people.ts';

const { app, ctx, logged } = await testContext(t, {
  routes: (app, ctx) => {
    app.get('/hooks/:userId/:secret', { config: { access: 'public' } }, async () => 'ok');
    app.post('/secrets', { config: { access: 'public' } }, async (request, reply) => {
      const { log, headers, body } = request;
      log.info({ headers, body, ...(body as object), deep: [{ a: { body } }] }, 'everything');
      log.info({ req: request, res: reply, raw: request.headers }, 'the request');
      return 'ok';
    });
    app.post('/twice', { config: { access: 'public' } }, async () => {
      const row = { identityUserId: 'x', email: 'carol@example.com', name: 'Carol', passwordHash: 'hash-of-carol' };
      await ctx.db.insert(users).values(row);
      await ctx.db.insert(users).values(row);
    });
    app.get('/refused', { config: { access: 'public' } }, async () => {
      throw new AppError('conflict', 'No.');
    });
  },
});
const alice = await signUpAlice(app);
const text = () => JSON.stringify(logged);
t.beforeEach(() => {
  logged.length = 0;
});

t.test('Each request is one line, with its request id', async (t) => {
  const response = await app.inject({ url: '/api/user?token=in-the-query', headers: alice.headers });
  t.equal(logged.length, 1);
  t.match(logged[0], {
    msg: 'request',
    method: 'GET',
    route: '/api/user',
    status: 200,
    ms: Number,
    userId: alice.id,
    requestId: response.headers['x-request-id'],
  });
  t.notMatch(text(), 'in-the-query');
});

t.test('No URL reaches the log, known or not', async (t) => {
  await app.inject('/hooks/7/whsec_abcdef');
  await app.inject('/hook/7/whsec_abcdef?token=abcdef');
  await app.inject('/hooks/7/%ff-abcdef');
  await app.inject({
    method: 'POST',
    url: '/secrets',
    payload: '{"abcdef',
    headers: { 'content-type': 'application/json' },
  });
  t.equal(logged.length, 4);
  t.notMatch(text(), 'abcdef');
  t.match(logged[0], { route: '/hooks/:userId/:secret', status: 200 });
  t.match(logged[1], { route: null, status: 404 });
});

t.test('Secrets are redacted wherever they are logged', async (t) => {
  const names = [
    'password',
    'newPassword',
    'currentPassword',
    'token',
    'secret',
    'prompt',
    'apiKey',
    'encryptedProviderKey',
  ];
  const payload = Object.fromEntries(names.map((name) => [name, 'KEEP-ME-IN']));
  const headers = { authorization: 'Bearer KEEP-ME-IN', cookie: 'a=KEEP-ME-IN', 'x-admin-key': 'KEEP-ME-IN' };
  await app.inject({ method: 'POST', url: '/secrets', payload, headers });
  t.match(text(), 'everything');
  t.match(logged[1], { req: { method: 'POST', route: '/secrets' }, res: { status: 200 } });
  t.notMatch(text(), 'KEEP-ME-IN');
});

t.test('An AppError is not logged as an error', async (t) => {
  await app.inject('/refused');
  t.same(
    logged.map(({ msg, status }) => [msg, status]),
    [['request', 409]],
  );
});

t.test('A database error is logged once, with code and constraint and without data', async (t) => {
  const response = await app.inject({ method: 'POST', url: '/twice' });
  t.equal(response.statusCode, 500);
  const errors = logged.filter(({ level }) => level === 50);
  t.equal(errors.length, 1);
  const requestId = response.headers['x-request-id'];
  const cause = { type: 'PostgresError', code: '23505', constraint: /users_/, stack: String };
  t.match(errors[0], { msg: 'request failed', requestId, err: { type: 'DrizzleQueryError', stack: /^at /, cause } });
  t.notMatch(text(), /carol|hash-of|insert into/i);
});

t.test('Line breaks cannot forge a line', async (t) => {
  ctx.log.info({ name: 'a\r\n{"msg":"forged"}' }, 'one');
  t.equal(logged.length, 1);
});
