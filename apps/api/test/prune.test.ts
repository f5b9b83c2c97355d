import { mails, passwordResets, rateWindows, sessions } from '@carillon/db';
import t from 'tap';
import { prune } from '../src/prune.ts';
import { START, testContext } from './support/context.ts';
import { signUpAlice } from './support/people.ts';

const { app, ctx, clock } = await testContext(t);
const ago = (ms: number) => new Date(START.getTime() - ms);
const DAY_MS = 24 * 60 * 60 * 1000;

t.beforeEach(async () => {
  clock.set(START);
  await ctx.db.delete(rateWindows);
});

t.test('windows that have ended are deleted, however many, and no others', async (t) => {
  const window = (key: string, endsAt: Date) => ({ key, count: 1, endsAt });
  await ctx.db.insert(rateWindows).values(Array.from({ length: 2500 }, (_, i) => window(`old ${i}`, ago(60_001 + i))));
  const kept = [window('ahead', new Date(START.getTime() + 1)), window('just ended', ago(60_000))];
  await ctx.db.insert(rateWindows).values(kept);
  await Promise.all([prune(ctx), prune(ctx), prune(ctx)]);
  t.same((await ctx.db.select().from(rateWindows)).map(({ key }) => key).sort(), ['ahead', 'just ended']);
});

t.test('it leaves what somebody holds, and does not wait for it', async (t) => {
  await ctx.db.insert(rateWindows).values(['a', 'b'].map((key) => ({ key, count: 1, endsAt: ago(DAY_MS) })));
  await ctx.db.transaction(async (tx) => {
    await tx.update(rateWindows).set({ count: 2 });
    await prune(ctx);
  });
  t.equal(await ctx.db.$count(rateWindows), 2);
  await prune(ctx);
  t.equal(await ctx.db.$count(rateWindows), 0);
});

t.test('it ends early when the process stops', async (t) => {
  const rows = Array.from({ length: 2500 }, (_, i) => ({ key: `old ${i}`, count: 1, endsAt: ago(DAY_MS) }));
  await ctx.db.insert(rateWindows).values(rows);
  await prune({ ...ctx, worker: { ...ctx.worker, stopping: AbortSignal.abort() } });
  t.equal(await ctx.db.$count(rateWindows), 1500, 'after the batch that is under way');
});

t.test('sessions, reset tokens and mail go when they are over', async (t) => {
  const alice = await signUpAlice(app);
  const session = { userId: alice.id, createdAt: ago(9 * DAY_MS), lastUsedAt: ago(9 * DAY_MS) };
  const id = (n: number) => `0b1f6a5e-6a0e-4c55-9a1d-0c7a3f5f1b2${n}`;
  await ctx.db.insert(sessions).values({ ...session, id: id(1), expiresAt: ago(60_001) });
  const reset = { userId: alice.id, expiresAt: ago(0) };
  await ctx.db.insert(passwordResets).values([
    { ...reset, tokenHash: 'old', createdAt: ago(30 * DAY_MS + 1) },
    { ...reset, tokenHash: 'new', createdAt: ago(30 * DAY_MS) },
  ]);
  const mail = { recipient: alice.email, subject: 'x' };
  await ctx.db.insert(mails).values([
    { ...mail, id: id(1), sentAt: ago(0), createdAt: ago(30 * DAY_MS + 1) },
    { ...mail, id: id(2), failedAt: ago(0), createdAt: ago(30 * DAY_MS) },
    { ...mail, id: id(3), bodySealed: 'x', nextAttemptAt: ago(0), createdAt: ago(60 * DAY_MS) },
  ]);
  await prune(ctx);
  t.equal(await ctx.db.$count(sessions), 1, 'the living one');
  t.same(
    (await ctx.db.select().from(passwordResets)).map(({ tokenHash }) => tokenHash),
    ['new'],
  );
  t.same((await ctx.db.select().from(mails)).map((row) => row.id).sort(), [id(2), id(3)], 'what waits is kept');
});
