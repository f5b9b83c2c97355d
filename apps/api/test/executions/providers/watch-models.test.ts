import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { listedModels, notifications, providers, settings } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { watchModels } from '../../../src/product/executions/request/providers/watch-models.ts';
import { testEngine } from '../../support/engine.ts';
import { insertTask, insertUsers } from '../../support/task-rows.ts';

const { ctx, clock, alice, newProcess } = await testEngine(t);
let models: object[] = [];
let asked = 0;
const server = createServer((request, response) => {
  asked += 1;
  t.equal(request.headers.authorization, undefined);
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ data: models }));
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
t.teardown(() => server.close());
const at = ctx.now();
await ctx.db.insert(providers).values({
  id: '00000000-0000-4000-8000-00000000000b',
  name: 'local',
  kind: 'openai',
  baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
  createdAt: at,
  updatedAt: at,
});

const DAY_MS = 86_400_000;
const look = async () => {
  clock.advance(DAY_MS);
  await watchModels(ctx);
};
const readNotices = () =>
  ctx.db
    .select({ userId: notifications.userId, title: notifications.title })
    .from(notifications)
    .where(eq(notifications.kind, 'model.ending'))
    .orderBy(notifications.id);

t.beforeEach(async () => {
  await ctx.db.delete(listedModels);
  await ctx.db.update(settings).set({ modelsCheckedAt: null });
  asked = 0;
});

t.test('A used model that leaves the list is reported once to owners and admins, an alias never', async (t) => {
  const [bob] = (await insertUsers(ctx, 1)) as [number];
  await insertTask(ctx, alice().id, { aiModel: 'local/old' });
  await insertTask(ctx, bob, { aiModel: 'm', fallbackModels: ['local/old', 'local/alias'] });
  models = [{ id: 'old' }, { id: 'new' }];
  await look();
  t.same(await readNotices(), []);
  models = [{ id: 'new' }];
  await look();
  await look();
  const title = "The model old is gone from its provider's list";
  t.same(
    (await readNotices()).sort((a, b) => a.userId - b.userId),
    [alice().id, bob].sort((a, b) => a - b).map((userId) => ({ userId, title })),
  );
  t.match(await ctx.db.select().from(listedModels), [{ provider: 'local', model: 'old', endsAt: null }]);
  models = [];
  await look();
  t.equal((await readNotices()).length, 2, 'a provider without a list says nothing');
});

t.test('An end that the provider announces is reported before', async (t) => {
  await insertTask(ctx, alice().id, { aiModel: 'local/old' });
  models = [{ id: 'old', expiration_date: '2027-01-31' }];
  await look();
  t.same(await readNotices(), [{ userId: alice().id, title: 'The model old ends on 31 January 2027' }]);
});

t.test('The lists are looked at once a day, over all processes', async (t) => {
  await insertTask(ctx, alice().id, { aiModel: 'local/old' });
  models = [{ id: 'old' }];
  clock.advance(DAY_MS);
  const { ctx: other } = newProcess(t);
  await Promise.all([watchModels(ctx), watchModels(other), watchModels(ctx)]);
  t.equal(asked, 1);
});
