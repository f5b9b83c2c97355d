import { endpoints, settings, users } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { decryptSecret } from '../../../src/product/deliveries/queue/secret.ts';
import { assertNeedsSession } from '../../support/access.ts';
import { testContext } from '../../support/context.ts';
import { type Person, signUp, signUpAda, signUpAlice } from '../../support/people.ts';
import { PRODUCTION_ENV } from '../../support/production.ts';
import { postWebhook, readWebhook, tryWebhook, WEBHOOK } from '../../support/webhooks.ts';

const { app, ctx, logged } = await testContext(t);
const alice = await signUpAlice(app);
t.beforeEach(async () => {
  await ctx.db.delete(endpoints);
});

const tryCreate = async (person: Person, given: object) => {
  const answer = await tryWebhook(app, person, given);
  return { status: answer.statusCode, details: answer.json().details };
};
const plan = (person: Person, to: 'trial' | 'pro') =>
  ctx.db.update(users).set({ plan: to }).where(eq(users.id, person.id));

t.test('A new webhook is active and shows its secret once', async (t) => {
  const answer = await tryWebhook(app, alice, { description: 'To the wall display' });
  t.equal(answer.statusCode, 201);
  const { success, webhook } = answer.json();
  t.equal(success, true);
  const { id, secret, ...rest } = webhook;
  t.same(rest, { userId: alice.id, ...WEBHOOK, isActive: true, createdAt: '2026-11-20T10:00:00.000Z' });
  t.match(id, /^[0-9a-f-]{36}$/);
  t.match(secret, /^whsec_[A-Za-z0-9]{32}$/, 'in characters that both base64 alphabets share');
  t.same(await readWebhook(app, alice, id), {
    ...{ id, ...rest, description: 'To the wall display', status: 'active' },
    ...{ purpose: 'subscription', taskId: null },
  });

  const [row] = await ctx.db.select().from(endpoints).where(eq(endpoints.id, id));
  t.notOk(JSON.stringify(row).includes(secret.slice(6)), 'it is stored encrypted');
  t.equal(decryptSecret(ctx, id, row?.secretEncrypted ?? ''), secret);
  t.notOk(JSON.stringify(logged).includes(secret.slice(6)), 'and it is not logged');
});

t.test('Each webhook gets its own secret', async (t) => {
  await plan(alice, 'pro');
  const made = await Promise.all(Array.from({ length: 10 }, () => postWebhook(app, alice)));
  t.equal(new Set(made.map(({ secret }) => secret)).size, 10);
  await plan(alice, 'trial');
});

t.test('Every event kind can be subscribed, and repeated kinds count once', async (t) => {
  const events = [
    ...['task.created', 'task.updated', 'task.deleted', 'task.started', 'task.completed', 'task.failed'],
    ...['execution.started', 'execution.completed', 'execution.failed', 'usage.alert', 'test'],
  ];
  const { events: stored } = await postWebhook(app, alice, { events: [...events, 'task.created', 'test'] });
  t.same(stored, events);
});

t.test('A description may be absent, null, or up to 500 characters', async (t) => {
  const description = '🔔'.repeat(500);
  t.equal((await readWebhook(app, alice, (await postWebhook(app, alice)).id)).description, null);
  t.equal((await readWebhook(app, alice, (await postWebhook(app, alice, { description: null })).id)).description, null);
  t.equal(
    (await readWebhook(app, alice, (await postWebhook(app, alice, { description })).id)).description,
    description,
  );
});

t.test('Invalid input is refused by field', async (t) => {
  const wrong: [object, string][] = [
    [{ url: undefined }, 'url'],
    [{ url: 7 }, 'url'],
    [{ url: 'not an address' }, 'url'],
    [{ url: 'ftp://example.com/' }, 'url'],
    [{ url: 'javascript:alert(1)' }, 'url'],
    [{ url: 'https://user:password@example.com/' }, 'url'],
    [{ url: `https://example.com/${'x'.repeat(2048)}` }, 'url'],
    [{ url: 'https://exa\u0000mple.com/' }, 'url'],
    [{ events: undefined }, 'events'],
    [{ events: [] }, 'events'],
    [{ events: 'task.created' }, 'events'],
    [{ events: ['task.created', 'task.exploded'] }, 'events'],
    [{ description: 'x'.repeat(501) }, 'description'],
    [{ secret: 'whsec_mine' }, 'secret'],
    [{ userId: 1 }, 'userId'],
    [{ isActive: false }, 'isActive'],
  ];
  for (const [given, field] of wrong) {
    const { status, details } = await tryCreate(alice, given);
    t.equal(status, 400, field);
    t.same(Object.keys(details), [field]);
  }
  t.equal(await ctx.db.$count(endpoints), 0);
});

t.test('Addresses inside the network are refused before anything is sent', async (t) => {
  const refused = [
    'http://169.254.0.1/',
    'http://169.254.169.254/latest/meta-data/',
    'http://[::ffff:169.254.0.1]/',
    'http://0xa9fea9fe/',
    'http://localhost:3000/api/webhooks',
    'http://localhost.:3000/',
    'http://127.0.0.1:3000/',
  ];
  for (const url of refused) t.same((await tryCreate(alice, { url })).status, 400, url);
  t.same((await tryCreate(alice, { url: 'http://localhost:3000/' })).details, {
    url: ['must not be a URL of this service'],
  });
  await postWebhook(app, alice, { url: 'http://127.0.0.1:4000/mine' });
});

t.test('Production accepts https only', async (t) => {
  const env = { ...PRODUCTION_ENV, BASE_URL: 'https://carillon.example.com', APP_URL: 'https://app.example.com' };
  const production = await testContext(t, { env: { ...env } });
  const owner = await signUpAlice(production.app);
  const tryUrl = async (url: string) => (await tryWebhook(production.app, owner, { url })).statusCode;
  t.equal(await tryUrl('https://hooks.example.com/'), 201);
  t.equal(await tryUrl('https://hooks.example.com:8443/'), 201);
  for (const url of [
    'http://hooks.example.com/',
    'https://127.0.0.1/',
    'https://carillon.example.com/x',
    'https://app.example.com/',
  ]) {
    t.equal(await tryUrl(url), 400, url);
  }
});

t.test('A trial has 3 webhooks; pro users and admins have 10', async (t) => {
  const bob = await signUp(app, { name: 'Bob' });
  const ada = await signUpAda(app);
  await plan(bob, 'pro');
  for (const [person, most] of [
    [alice, 3],
    [bob, 10],
    [ada, 10],
  ] as const) {
    for (let n = 0; n < most; n++) await postWebhook(app, person);
    const answer = await tryWebhook(app, person);
    t.equal(answer.statusCode, 402, person.name);
    t.match(answer.json(), {
      success: false,
      error: 'Quota exceeded',
      message: /webhooks/,
      details: { resource: 'webhooks', used: most, limit: most, resetAt: null },
    });
  }
});

t.test('Inactive and failed webhooks count against the limit, deleted ones do not', async (t) => {
  const made = [];
  for (let n = 0; n < 3; n++) made.push(await postWebhook(app, alice));
  await ctx.db.update(endpoints).set({ status: 'failed' });
  t.equal((await tryWebhook(app, alice)).statusCode, 402);
  await ctx.db.delete(endpoints).where(eq(endpoints.id, made[0]?.id ?? ''));
  t.equal((await tryWebhook(app, alice)).statusCode, 201);
});

t.test('40 concurrent creations never exceed the limit', async (t) => {
  const bob = await signUp(app, { name: 'Bob' });
  await plan(bob, 'pro');
  for (const [person, most] of [
    [alice, 3],
    [bob, 10],
  ] as const) {
    const answers = await Promise.all(Array.from({ length: 40 }, () => tryWebhook(app, person)));
    t.equal(answers.filter(({ statusCode }) => statusCode === 201).length, most);
    t.equal(answers.filter(({ statusCode }) => statusCode === 402).length, 40 - most);
    t.equal(await ctx.db.$count(endpoints, eq(endpoints.userId, person.id)), most);
  }
});

t.test('5 webhooks a minute may be created', async (t) => {
  const hurried = await testContext(t, { env: { RATE_LIMIT_MULTIPLIER: '1' } });
  const owner = await signUpAlice(hurried.app);
  await hurried.ctx.db.update(settings).set({ maxTasksPerUser: 100 });
  for (let n = 0; n < 5; n++) t.equal((await tryWebhook(hurried.app, owner, { url: 'no' })).statusCode, 400);
  t.equal((await tryWebhook(hurried.app, owner)).statusCode, 429);
});

t.test('Creating a webhook needs a session', async (t) => {
  await assertNeedsSession(t, app, { method: 'POST', url: '/api/webhooks', payload: WEBHOOK });
});
