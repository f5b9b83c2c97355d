import { auditLog, providers } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { createProviderList } from '../../../src/lib/ai/provider-list.ts';
import { findModel, type Providers } from '../../../src/lib/ai/providers.ts';
import { rotateKeys } from '../../../src/lib/crypto/rotate-keys.ts';
import { assertNeedsAdmin } from '../../support/access.ts';
import { testContext } from '../../support/context.ts';
import { signUpAda, signUpAlice } from '../../support/people.ts';
import { startAiServer } from '../../support/servers/ai-server.ts';
import { startAnthropicServer } from '../../support/servers/anthropic-server.ts';

const { app, ctx } = await testContext(t);
const ada = await signUpAda(app);
const alice = await signUpAlice(app);
const URL = '/api/admin/providers';
const KEY = 'sk-secret-of-a-provider';

type Payload = Record<string, unknown>;
const send = (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path = '', payload?: Payload, to = app) =>
  to.inject({ method, url: URL + path, headers: ada.headers, ...(payload && { payload }) });
const create = async (fields: Payload) => {
  const answer = await send('POST', '', { kind: 'openai', baseUrl: 'https://ai.example.com/v1', ...fields });
  if (answer.statusCode !== 201) throw new Error(answer.body);
  return answer.json().provider;
};

t.beforeEach(async () => {
  await ctx.db.delete(providers);
  ctx.providers.forget();
});

t.test('Only an admin with the admin key sees and changes providers', async (t) => {
  for (const [method, path] of [
    ['GET', ''],
    ['POST', ''],
    ['PATCH', '/default'],
    ['DELETE', '/default'],
    ['POST', '/test'],
  ] as const) {
    await assertNeedsAdmin(t, app, { method, url: URL + path }, { ada, alice });
  }
});

t.test('A provider is added with its key encrypted, and shown without it', async (t) => {
  const answer = await send('POST', '', {
    name: 'local',
    kind: 'openai',
    baseUrl: 'http://127.0.0.1:11434/v1/',
    apiKey: KEY,
    maxConcurrent: 2,
  });
  t.equal(answer.statusCode, 201);
  const { provider } = answer.json();
  t.match(provider, {
    name: 'local',
    kind: 'openai',
    baseUrl: 'http://127.0.0.1:11434/v1',
    hasApiKey: true,
    maxConcurrent: 2,
    source: 'settings',
  });
  t.same((await send('GET')).json(), { success: true, providers: [provider] });
  const [row] = await ctx.db.select().from(providers);
  t.match(row?.apiKeyEncrypted, /^v1\./);
  t.notMatch(JSON.stringify([answer.json(), row, await ctx.db.select().from(auditLog)]), KEY);
  t.match((await ctx.db.select().from(auditLog).where(eq(auditLog.kind, 'provider.created'))).at(-1), {
    actorId: ada.id,
    details: { provider: { name: 'local', maxConcurrent: 2 } },
  });
});

t.test('Wrong fields are named', async (t) => {
  const right = { name: 'a', kind: 'openai', baseUrl: 'https://ai.example.com/v1' };
  for (const [field, wrong] of [
    ['name', { name: 'A' }],
    ['name', { name: '1a' }],
    ['name', { name: 'a'.repeat(33) }],
    ['name', { name: 'a/b' }],
    ['kind', { kind: 'ollama' }],
    ['baseUrl', { baseUrl: 'ftp://ai.example.com' }],
    ['baseUrl', { baseUrl: 'https://ai.example.com/v1/chat/completions' }],
    ['baseUrl', { baseUrl: 'https://user:password@ai.example.com/v1' }],
    ['baseUrl', { baseUrl: 'https://ai.example.com/v1?key=1' }],
    ['apiKey', { apiKey: '“key”' }],
    ['apiKey', { apiKey: 'two words' }],
    ['maxConcurrent', { maxConcurrent: 0 }],
    ['maxConcurrent', { maxConcurrent: 1001 }],
    ['extra', { extra: 1 }],
  ] as const) {
    const answer = await send('POST', '', { ...right, ...wrong });
    t.equal(answer.statusCode, 400, JSON.stringify(wrong));
    t.same(Object.keys(answer.json().details), [field]);
  }
});

t.test('There are at most five providers, however many are added at once, and each name once', async (t) => {
  const names = Array.from({ length: 8 }, (_, at) => `p${at}`);
  const statuses = await Promise.all(
    names.map(
      async (name) => (await send('POST', '', { name, kind: 'openai', baseUrl: 'https://a.example/v1' })).statusCode,
    ),
  );
  t.same(statuses.sort(), [201, 201, 201, 201, 201, 402, 402, 402]);
  t.match((await send('POST', '', { name: 'x', kind: 'openai', baseUrl: 'https://a.example' })).json(), {
    error: 'Quota exceeded',
    details: { resource: 'providers', used: 5, limit: 5, resetAt: null },
  });
  await ctx.db.delete(providers);
  const twice = await Promise.all(
    [1, 2, 3].map(
      async () => (await send('POST', '', { name: 'same', kind: 'openai', baseUrl: 'https://a.example' })).statusCode,
    ),
  );
  t.same(twice.sort(), [201, 409, 409]);
});

t.test('A changed address needs the key again; the key is removed with null', async (t) => {
  const { id } = await create({ name: 'local', apiKey: KEY });
  const moved = { baseUrl: 'https://elsewhere.example/v1' };
  const refused = await send('PATCH', `/${id}`, moved);
  t.equal(refused.statusCode, 400);
  t.same(Object.keys(refused.json().details), ['apiKey']);
  t.match((await send('PATCH', `/${id}`, { ...moved, apiKey: 'sk-2' })).json(), {
    provider: { ...moved, hasApiKey: true },
  });
  t.match((await send('PATCH', `/${id}`, { apiKey: null })).json(), { provider: { hasApiKey: false } });
  t.equal((await send('PATCH', `/${id}`, { baseUrl: 'https://third.example' })).statusCode, 200, 'there is no key');
  t.match((await send('PATCH', `/${id}`, { name: 'other', maxConcurrent: 3 })).json(), {
    provider: { id, name: 'other', maxConcurrent: 3 },
  });
  t.match((await send('PATCH', `/${id}`, { maxConcurrent: null })).json(), { provider: { maxConcurrent: null } });
  await create({ name: 'taken' });
  t.equal((await send('PATCH', `/${id}`, { name: 'taken' })).statusCode, 409);
  for (const unknown of ['00000000-0000-4000-8000-000000000000', '999', 'nothing']) {
    t.equal((await send('PATCH', `/${unknown}`, { name: 'x' })).statusCode, 404);
    t.equal((await send('DELETE', `/${unknown}`)).statusCode, 404);
  }
});

t.test('The first one made is the default, which stays while there are others', async (t) => {
  const first = await create({ name: 'first' });
  const second = await create({ name: 'second' });
  const list = await ctx.providers.load();
  t.match(findModel(list, 'second/a/b'), { provider: { name: 'second' }, model: 'a/b', isDefault: false });
  t.match(findModel(list, 'first/a'), { provider: { name: 'first' }, model: 'a', isDefault: true });
  t.match(findModel(list, 'openai/gpt-5-mini'), { provider: { name: 'first' }, model: 'openai/gpt-5-mini' });
  t.match(findModel(list, 'second/'), { provider: { name: 'first' }, model: 'second/' });
  t.equal((await send('DELETE', `/${first.id}`)).statusCode, 409);
  t.equal((await send('DELETE', `/${second.id}`)).statusCode, 200);
  t.equal((await send('DELETE', `/${first.id}`)).statusCode, 200);
  t.same((await send('GET')).json().providers, []);
});

t.test('The spelling of an id changes neither the encryption of a key nor the protection of the default', async (t) => {
  const { id } = await create({ name: 'first' });
  await create({ name: 'second' });
  const path = `/${id.toUpperCase()}`;
  t.match((await send('PATCH', path, { apiKey: KEY })).json(), { provider: { id, hasApiKey: true } });
  t.same((await createProviderList(ctx.db, ctx.config).load()).list[0]?.apiKey, { value: KEY });
  t.equal((await send('DELETE', path)).statusCode, 409);
});

t.test('Providers of the environment are shown, come first, and are changed there', async (t) => {
  const env = {
    AI_BASE_URL: 'https://user:password@gateway.example/v1?key=secret',
    AI_API_KEY: 'sk-1',
    ANTHROPIC_API_KEY: 'sk-ant',
  };
  const test = await testContext(t, { env });
  const admin = await signUpAda(test.app);
  const ask = (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path = '', payload?: Payload) =>
    test.app.inject({ method, url: URL + path, headers: admin.headers, ...(payload && { payload }) });
  const shown = { maxConcurrent: null, source: 'environment', hasApiKey: true, createdAt: null, updatedAt: null };
  t.same((await ask('GET')).json().providers, [
    { id: 'default', name: 'default', kind: 'openai', baseUrl: 'https://gateway.example/v1', ...shown },
    { id: 'anthropic', name: 'anthropic', kind: 'anthropic', baseUrl: 'https://api.anthropic.com/v1', ...shown },
  ]);
  for (const id of ['default', 'anthropic']) {
    t.equal((await ask('PATCH', `/${id}`, { maxConcurrent: 1 })).statusCode, 409);
    t.equal((await ask('DELETE', `/${id}`)).statusCode, 409);
    t.equal((await ask('POST', '', { name: id, kind: 'openai', baseUrl: 'https://a.example' })).statusCode, 409);
  }
  for (const [name, status] of [
    ['a', 201],
    ['b', 201],
    ['c', 201],
    ['d', 402],
  ] as const) {
    t.equal((await ask('POST', '', { name, kind: 'openai', baseUrl: 'https://a.example' })).statusCode, status);
  }
  t.match(findModel(await test.ctx.providers.load(), 'a-model'), { provider: { name: 'default' }, isDefault: true });
});

t.test('A test call shows the model, the time and the words of the provider', async (t) => {
  const openai = await startAiServer({ apiKey: KEY });
  t.teardown(() => openai.close());
  const claude = await startAnthropicServer({ after: (work) => t.teardown(work) });
  const unsaved = { kind: 'openai', baseUrl: openai.url, apiKey: KEY, model: 'm/1' };
  t.match((await send('POST', '/test', unsaved)).json(), {
    success: true,
    ok: true,
    ms: Number,
    message: /^Answer to/,
  });
  t.equal(openai.requests.at(-1)?.body.model, 'm/1');
  const wrong = (await send('POST', '/test', { ...unsaved, apiKey: 'sk-wrong' })).json();
  t.match(wrong, { ok: false, model: 'm/1', message: /refused the API key/ });
  t.notMatch(wrong.message, 'sk-wrong');
  const { id } = await create({ name: 'claude', kind: 'anthropic', baseUrl: claude.url, apiKey: 'anthropic-key-1' });
  t.match((await send('POST', '/test', { id, model: 'claude-x' })).json(), { ok: true, model: 'claude-x' });
  t.equal((await send('POST', '/test', { id: 'unknown', model: 'x' })).statusCode, 404);
  for (const [field, payload] of [
    ['kind', { model: 'm', baseUrl: openai.url }],
    ['baseUrl', { model: 'm', kind: 'openai' }],
    ['name', { id, model: 'm', name: 'claude' }],
    ['model', { id }],
  ] as const) {
    const answer = await send('POST', '/test', payload);
    t.equal(answer.statusCode, 400);
    t.same(Object.keys(answer.json().details), [field]);
  }
});

t.test('A change counts in every process within 5 s, also for one that has the list already', async (t) => {
  const other = createProviderList(ctx.db, ctx.config);
  const names = ({ list }: Providers) => list.map(({ name }) => name);
  t.same(names(await other.load()), []);
  const { id } = await create({ name: 'local', apiKey: KEY });
  t.same(names(await ctx.providers.load()), ['local'], 'at once in this process');
  const startedAt = performance.now();
  while (names(await other.load()).length === 0 && performance.now() - startedAt < 5000) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const known = await other.load();
  t.same(names(known), ['local']);
  other.forget();
  t.equal(await other.load(), known, 'an unchanged list is the same object');
  await send('DELETE', `/${id}`);
  other.forget();
  t.same(names(await other.load()), []);
});

t.test('A transaction reads the list over its own connection', async (t) => {
  const list = createProviderList(ctx.db, ctx.config);
  await ctx.db.transaction(async (tx) => {
    await Promise.all(Array.from({ length: 30 }, () => list.load(tx)));
  });
  t.same((await list.load()).list, []);
});

t.test('The key moves to a new encryption key, and one without it is named', async (t) => {
  await create({ name: 'local', apiKey: KEY });
  const [old] = ctx.config.encryptionKeys;
  const fresh = { id: 'fresh', key: Buffer.alloc(32, 7) };
  const keys = [fresh, ...(old ? [old] : [])];
  for await (const rotation of rotateKeys(ctx.db, keys)) t.same(rotation.failures, [], rotation.column);
  const moved = createProviderList(ctx.db, { ...ctx.config, encryptionKeys: [fresh] });
  t.same((await moved.load()).list[0]?.apiKey, { value: KEY });
  const lost = createProviderList(ctx.db, { ...ctx.config, encryptionKeys: [{ ...fresh, id: 'another' }] });
  t.equal((await lost.load()).list[0]?.apiKey, 'unreadable');
});
