import { users } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { assertNeedsSession } from '../../support/access.ts';
import { testContext } from '../../support/context.ts';
import { signUpAda, signUpAlice, signUpBob } from '../../support/people.ts';
import { callWebhook, postWebhook, UNKNOWN_WEBHOOK_IDS } from '../../support/webhooks.ts';

const { app, ctx, clock } = await testContext(t);
const alice = await signUpAlice(app);
const bob = await signUpBob(app);
await ctx.db.update(users).set({ plan: 'pro' }).where(eq(users.id, alice.id));
const mine: string[] = [];
for (let n = 0; n < 5; n++) {
  clock.advance(1000);
  mine.push((await postWebhook(app, alice)).id);
}
await postWebhook(app, bob);

const list = async (query = '', person = alice) =>
  (await app.inject({ url: `/api/webhooks${query}`, headers: person.headers })).json();

t.test("The list shows the caller's webhooks, newest first, without secrets", async (t) => {
  const { success, webhooks, pagination } = await list();
  t.equal(success, true);
  t.same(
    webhooks.map(({ id }: { id: string }) => id),
    mine.toReversed(),
  );
  t.same(pagination, { total: 5, limit: 20, offset: 0, hasMore: false });
  for (const webhook of webhooks) {
    t.same(Object.keys(webhook).sort(), [
      ...['createdAt', 'description', 'events', 'id', 'isActive', 'purpose', 'status', 'taskId', 'url', 'userId'],
    ]);
  }
  t.equal((await list('', bob)).webhooks.length, 1);
});

t.test('The list is paged', async (t) => {
  const first = await list('?limit=2');
  const last = await list('?limit=2&offset=4');
  t.same(
    [...first.webhooks, ...last.webhooks].map(({ id }) => id),
    [mine[4], mine[3], mine[0]],
  );
  t.same(first.pagination, { total: 5, limit: 2, offset: 0, hasMore: true });
  t.same(last.pagination, { total: 5, limit: 2, offset: 4, hasMore: false });
  for (const query of ['?limit=0', '?limit=1.5', '?limit=x', '?offset=-1']) {
    t.equal((await app.inject({ url: `/api/webhooks${query}`, headers: alice.headers })).statusCode, 400, query);
  }
});

t.test('A webhook is shown to its owner without its secret', async (t) => {
  const answer = await callWebhook(app, alice, 'GET', mine[0] ?? '');
  t.equal(answer.statusCode, 200);
  t.match(answer.json(), { success: true, webhook: { id: mine[0], isActive: true, status: 'active' } });
  t.notMatch(answer.body, /whsec_|secret/);
});

t.test("An unknown webhook and a stranger's webhook are not found, also by admins", async (t) => {
  const ada = await signUpAda(app);
  for (const person of [bob, ada]) {
    t.equal((await callWebhook(app, person, 'GET', mine[0] ?? '')).statusCode, 404);
  }
  for (const id of UNKNOWN_WEBHOOK_IDS) {
    const answer = await callWebhook(app, alice, 'GET', id);
    t.equal(answer.statusCode, 404, id);
    t.match(answer.json(), { success: false, error: String });
  }
});

t.test('Reading webhooks needs a session', async (t) => {
  await assertNeedsSession(t, app, { method: 'GET', url: '/api/webhooks' });
  await assertNeedsSession(t, app, { method: 'GET', url: `/api/webhooks/${mine[0]}` });
});
