import { DAY_MS } from '@carillon/contract/primitives';
import { mails, notifications, passwordResets, rateWindows, sessions } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { loadConfig } from '../../src/lib/config/config.ts';
import { createPruner, pruneAll } from '../../src/product/retention/prune.ts';
import { START, testContext } from '../support/context.ts';
import { signUp, signUpAlice } from '../support/people.ts';

const { app, ctx, clock, logged } = await testContext(t);
const ago = (ms: number) => new Date(START.getTime() - ms);

t.beforeEach(async () => {
  clock.set(START);
  await ctx.db.delete(rateWindows);
});

t.test('Ended rate-limit windows are all deleted, and no others', async (t) => {
  const window = (key: string, endsAt: Date) => ({ key, count: 1, endsAt });
  await ctx.db.insert(rateWindows).values(Array.from({ length: 2500 }, (_, i) => window(`old ${i}`, ago(60_001 + i))));
  const kept = [window('ahead', new Date(START.getTime() + 1)), window('just ended', ago(60_000))];
  await ctx.db.insert(rateWindows).values(kept);
  await Promise.all([pruneAll(ctx), pruneAll(ctx), pruneAll(ctx)]);
  t.same((await ctx.db.select().from(rateWindows)).map(({ key }) => key).sort(), ['ahead', 'just ended']);
});

t.test('Locked rows are skipped without waiting', async (t) => {
  await ctx.db.insert(rateWindows).values(['a', 'b'].map((key) => ({ key, count: 1, endsAt: ago(DAY_MS) })));
  await ctx.db.transaction(async (tx) => {
    await tx.update(rateWindows).set({ count: 2 });
    await pruneAll(ctx);
  });
  t.equal(await ctx.db.$count(rateWindows), 2);
  await pruneAll(ctx);
  t.equal(await ctx.db.$count(rateWindows), 0);
});

t.test('Pruning ends after the current batch when the process stops', async (t) => {
  const rows = Array.from({ length: 2500 }, (_, i) => ({ key: `old ${i}`, count: 1, endsAt: ago(DAY_MS) }));
  await ctx.db.insert(rateWindows).values(rows);
  const stopping = new AbortController();
  const worker = { ...ctx.worker, stopping: stopping.signal };
  await pruneAll({ ...ctx, worker }, (what) => what === 'rate-limit windows' && stopping.abort());
  t.equal(await ctx.db.$count(rateWindows), 1500);
  await createPruner({ ...ctx, worker })();
  t.equal(await ctx.db.$count(rateWindows), 1500);
});

t.test('Each batch is reported with the number of deleted rows', async (t) => {
  const rows = Array.from({ length: 1500 }, (_, i) => ({ key: `old ${i}`, count: 1, endsAt: ago(DAY_MS) }));
  await ctx.db.insert(rateWindows).values(rows);
  const deleted: number[] = [];
  await pruneAll(ctx, (what, count) => void (what === 'rate-limit windows' && deleted.push(count)));
  t.same(deleted, [1000, 500]);
});

t.test('Sessions, reset tokens and mail are deleted when they have expired', async (t) => {
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
    { ...mail, id: id(3), bodyEncrypted: 'x', nextAttemptAt: ago(0), createdAt: ago(60 * DAY_MS) },
  ]);
  await pruneAll(ctx);
  t.equal(await ctx.db.$count(sessions), 1, 'the valid one');
  t.same(
    (await ctx.db.select().from(passwordResets)).map(({ tokenHash }) => tokenHash),
    ['new'],
  );
  t.same((await ctx.db.select().from(mails)).map((row) => row.id).sort(), [id(2), id(3)], 'a pending mail is kept');
});

const tokens = (count: number, userId: number, at: Date) =>
  Array.from({ length: count }, (_, n) => ({
    userId,
    tokenHash: `${at.getTime()} ${n}`,
    createdAt: at,
    expiresAt: at,
  }));

t.test(
  'A worker deletes everything expired in one round, and continues after rows that it cannot delete',
  async (t) => {
    const { id } = await signUp(app);
    await ctx.db.delete(passwordResets);
    await ctx.db.insert(passwordResets).values(tokens(1000, id, ago(32 * DAY_MS)));
    const round = createPruner(ctx);
    await ctx.db.transaction(async (tx) => {
      await tx.update(passwordResets).set({ expiresAt: START });
      await ctx.db.insert(passwordResets).values([...tokens(1500, id, ago(31 * DAY_MS)), ...tokens(1, id, START)]);
      await round();
      t.equal(await ctx.db.$count(passwordResets), 2501, 'the first batch has only locked rows');
      await round();
      t.equal(await ctx.db.$count(passwordResets), 1001, 'the second continues after them');
    });
    await round();
    t.equal(await ctx.db.$count(passwordResets), 1, 'and then from the start');
  },
);

t.test('A kind that cannot be pruned is logged, and the others are pruned', async (t) => {
  await ctx.db.insert(rateWindows).values({ key: 'old', count: 1, endsAt: ago(DAY_MS) });
  await ctx.db.execute('alter table occurrences rename to elsewhere');
  await createPruner(ctx)();
  await ctx.db.execute('alter table elsewhere rename to occurrences');
  t.equal(await ctx.db.$count(rateWindows), 0);
  t.match(logged.at(-1), { level: 50, msg: 'pruning occurrences failed' });
});

t.test('A retention of 0 days keeps everything for ever', async (t) => {
  const { id: userId } = await signUp(app);
  const old = { userId, kind: 'test', title: '', message: '', createdAt: new Date(0) };
  await ctx.db.insert(notifications).values(old);
  const { retention } = loadConfig({ DATA_DIR: t.testdir(), RETENTION_NOTIFICATIONS_DAYS: '0' });
  await pruneAll({ ...ctx, config: { ...ctx.config, retention } });
  t.equal(await ctx.db.$count(notifications, eq(notifications.title, '')), 1);
});

t.test('Retention days are whole numbers, and the audit log keeps at least 30', async (t) => {
  const DATA_DIR = t.testdir();
  const days = 'a whole number of days from';
  for (const [name, value, takes] of [
    ['RETENTION_EXECUTIONS_DAYS', '-1', `${days} 1 to 36500, or 0 for no limit`],
    ['RETENTION_FILES_DAYS', '1.5', `${days} 1 to 36500, or 0 for no limit`],
    ['RETENTION_OCCURRENCES_DAYS', '36501', `${days} 1 to 36500, or 0 for no limit`],
    ['RETENTION_AUDIT_DAYS', '29', `${days} 30 to 36500, or 0 for no limit`],
  ] as const) {
    t.throws(() => loadConfig({ DATA_DIR, [name]: value }), { message: `${name} is "${value}", but takes ${takes}.` });
  }
  const settings = { RETENTION_AUDIT_DAYS: '30', RETENTION_EXECUTIONS_DAYS: '1' };
  t.match(loadConfig({ DATA_DIR, ...settings }).retention, { auditDays: 30, executionsDays: 1, filesDays: 0 });
});
