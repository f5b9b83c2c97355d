import { connect, rateHits, rateWindows } from '@carillon/db';
import t from 'tap';
import { ACTION_RATE_LIMITS } from '../../src/platform/limits/rates.ts';
import { getData, TASK, testActions } from '../support/actions.ts';
import { START, testContext } from '../support/context.ts';
import { type Person, signUp } from '../support/people.ts';

const { app, ctx, clock, databaseUrl } = await testContext(t, { env: { RATE_LIMIT_MULTIPLIER: '1' } });
/** Stands for another process: it has its own pool. */
const { db, close } = connect(databaseUrl, { max: 10 });
t.teardown(close);
const actions = testActions(ctx);
const second = testActions({ ...ctx, db });
t.beforeEach(async () => {
  clock.set(START);
  await ctx.db.delete(rateWindows);
  await ctx.db.delete(rateHits);
});

const LIMITS = { createTask: 10, executeTask: 30, updateTask: 20, getExecutions: 100 } as const;
type Name = keyof typeof LIMITS;

/** The cheapest call: invalid calls and those that find nothing count too. */
const ask = (to: typeof actions, name: Name, { token }: Person): Promise<{ code?: string }> => {
  const calls = {
    createTask: () => to.createTask(token, {} as never),
    executeTask: () => to.executeTask(token, '1999999999'),
    updateTask: () => to.updateTask(token, { id: '1999999999' }),
    getExecutions: () => to.getExecutions(token, { limit: 0 }),
  };
  return calls[name]() as Promise<{ code?: string }>;
};
const isRefused = ({ code }: { code?: string }) => code === 'RATE_LIMIT_EXCEEDED';

for (const [name, limit] of Object.entries(LIMITS) as [Name, number][]) {
  t.test(`${name}: ${limit} calls pass in a minute, and the next one does not`, async (t) => {
    const [carol, dave] = [await signUp(app, { name: 'Carol' }), await signUp(app, { name: 'Dave' })];
    for (let n = 1; n <= limit; n++) {
      if (isRefused(await ask(n % 2 ? actions : second, name, carol))) t.fail(`${n} was refused`);
      if (n === 1) clock.advance(1500);
    }
    const reset = START.getTime() / 1000 + 60;
    for (const to of [actions, second]) {
      t.same(await ask(to, name, carol), {
        success: false,
        error: 'Too many requests',
        code: 'RATE_LIMIT_EXCEEDED',
        retryAfter: 59,
      });
    }
    t.notOk(isRefused(await ask(actions, name, dave)), 'other users are not affected');
    for (const other of Object.keys(LIMITS) as Name[]) {
      if (other !== name) t.notOk(isRefused(await ask(actions, other, carol)), `nor is ${other}`);
    }
    clock.set(new Date(reset * 1000 - 1));
    t.ok(isRefused(await ask(second, name, carol)), 'until the minute is over');
    clock.set(new Date(reset * 1000));
    t.notOk(isRefused(await ask(second, name, carol)), 'then a new window begins');
  });

  t.test(`${name}: exactly ${limit} of concurrent calls pass, in one process and in two`, async (t) => {
    for (const processes of [[actions], [actions, second]] as const) {
      const carol = await signUp(app, { name: 'Carol' });
      const answers = await Promise.all(
        Array.from({ length: limit + 50 }, (_, i) =>
          ask(processes[i % processes.length] as typeof actions, name, carol),
        ),
      );
      t.equal(answers.filter((answer) => !isRefused(answer)).length, limit);
    }
  });
}

t.test('Of 50 concurrent creations exactly 10 succeed', async (t) => {
  const carol = await signUp(app, { name: 'Carol' });
  const answers = await Promise.all(Array.from({ length: 50 }, () => actions.createTask(carol.token, TASK)));
  t.equal(answers.filter(({ success }) => success).length, 10);
});

t.test('A rejected call is in GET /api/usage, and REST has counters of its own', async (t) => {
  const carol = await signUp(app, { name: 'Carol' });
  for (let n = 0; n < 13; n++) await ask(actions, 'createTask', carol);
  const response = await app.inject({ url: '/api/usage', headers: carol.headers });
  t.match(response.json().usage.rateLimits, {
    hitToday: 3,
    endpoints: [{ endpoint: ACTION_RATE_LIMITS.createTask.bucket, hits: 3, lastHit: START.toISOString() }],
  });
  const request = { method: 'POST', url: '/api/agent/create-task', headers: carol.headers, payload: {} } as const;
  t.equal((await app.inject(request)).headers['x-ratelimit-remaining'], '9');
});

t.test('The other actions are not limited', async (t) => {
  const carol = await signUp(app, { name: 'Carol' });
  const answers = await Promise.all(
    Array.from({ length: 300 }, () => actions.toggleTaskActive(carol.token, '1', true)),
  );
  t.ok(answers.every((answer) => !answer.success && answer.code === 'NOT_FOUND'));
  t.equal(await ctx.db.$count(rateWindows), 0);
});

t.test('The multiplier scales the limits', async (t) => {
  const config = { ...ctx.config, rateLimitMultiplier: 0.2 };
  const few = testActions({ ...ctx, config });
  const carol = await signUp(app, { name: 'Carol' });
  const answers = await Promise.all(Array.from({ length: 5 }, () => few.createTask(carol.token, TASK)));
  t.equal(answers.filter(({ success }) => success).length, 2);
  await getData(few.getExecutions(carol.token));
});
