import { DAY_MS } from '@carillon/contract/primitives';
import { eventPositions, events, users } from '@carillon/db';
import { asc } from 'drizzle-orm';
import t from 'tap';
import { createPruner, pruneAll } from '../../src/retention/prune.ts';
import { START, testContext } from '../support/context.ts';
import { signUp } from '../support/people.ts';
import { recordManyEvents } from '../support/webhooks.ts';

const { app, ctx } = await testContext(t, { env: { RETENTION_EVENTS_DAYS: '7' } });
t.beforeEach(async () => {
  await ctx.db.delete(events);
  await ctx.db.delete(users);
});

/** Writes `old` events of 8 days ago and `recent` ones of 6 days ago. */
async function insertEvents(userId: number, old: number, recent: number) {
  const ago = (days: number) => new Date(START.getTime() - days * DAY_MS);
  const row = { userId, kinds: ['test'], data: '{}' };
  const rows = Array.from({ length: old + recent }, (_, n) => ({
    ...row,
    id: n + 1,
    createdAt: ago(n < old ? 8 : 6),
  }));
  for (let at = 0; at < rows.length; at += 5000) await ctx.db.insert(events).values(rows.slice(at, at + 5000));
  await ctx.db.insert(eventPositions).values({ userId, lastId: old + recent });
}
const left = () => ctx.db.select({ userId: events.userId, id: events.id }).from(events).orderBy(asc(events.id));

t.test('Events are stored for the configured days, and ids continue after them', async (t) => {
  const [alice, bob] = [await signUp(app), await signUp(app)];
  await insertEvents(alice.id, 2, 1);
  await insertEvents(bob.id, 2, 0);
  await pruneAll(ctx);
  t.same(await left(), [{ userId: alice.id, id: 3 }]);
  await recordManyEvents(ctx, bob.id, 1);
  t.same(await left(), [
    { userId: alice.id, id: 3 },
    { userId: bob.id, id: 3 },
  ]);
});

t.test('Old events are all pruned, with several pruners at once', async (t) => {
  const [alice, bob] = [await signUp(app), await signUp(app)];
  await insertEvents(alice.id, 2500, 1);
  await insertEvents(bob.id, 10, 1);
  await Promise.all([pruneAll(ctx), createPruner(ctx)(), pruneAll(ctx)]);
  t.same(await left(), [
    { userId: bob.id, id: 11 },
    { userId: alice.id, id: 2501 },
  ]);
});
