import t from 'tap';
import { testEngine } from '../../../api/test/support/engine.ts';
import { signUp } from '../../../api/test/support/people.ts';
import { insertTask, readLedger } from '../../../api/test/support/task-rows.ts';
import { visit } from '../support/visitor.ts';

const { app, ctx, clock, alice, runDue } = await testEngine(t);

/** A run of it costs $0.0007 at most. */
const insert = (name: string, userId: number, values: Parameters<typeof insertTask>[2]) =>
  insertTask(ctx, userId, { name, aiModel: 'gpt-4o-mini', maxTokens: 1000, costMonth: '2026-11', ...values });

t.test('Home names the tasks whose next run is refused by their budget, and why, and no others', async (t) => {
  clock.set('2026-11-28T10:00:00.000Z');
  const dave = await signUp(app, { name: 'Dave' });
  const budget = { monthlyBudgetUsd: 2 };
  const ids = {
    used: await insert('Used', dave.id, { ...budget, monthCostUsd: 2 }),
    rest: await insert('Rest', dave.id, { ...budget, monthCostUsd: 1.9999 }),
    small: await insert('Small', dave.id, { monthlyBudgetUsd: 0.0001, costMonth: null }),
    enough: await insert('Enough', dave.id, { ...budget, monthCostUsd: 1.99 }),
    earlier: await insert('Earlier', dave.id, { ...budget, costMonth: '2026-10', monthCostUsd: 2.5 }),
    free: await insert('Free', dave.id, { monthCostUsd: 100 }),
  };
  await insert('Paused', dave.id, { ...budget, monthCostUsd: 2.5, status: 'paused', nextExecutionAt: null });
  await insert('Of Alice', alice().id, { ...budget, monthCostUsd: 2.5, nextExecutionAt: null });
  const visitor = visit(app, dave);
  const needs = async () => {
    const { document } = await visitor.open('/');
    return document.querySelectorAll('.needs p').map(({ text }) => text);
  };
  const named = [
    'Small: the monthly budget of $0.00010 is too small for a run.',
    'Rest: the rest of the monthly budget of $2.00 is too small for a run. It resumes on 1 December.',
    'Used: the monthly budget of $2.00 is used. It resumes on 1 December.',
  ];
  t.same(await needs(), named);
  await runDue(t);
  const fates = Object.entries(ids).map(async ([name, id]) => [name, (await readLedger(ctx, id))[0]?.[1]]);
  t.same(Object.fromEntries((await Promise.all(fates)) as [string, string][]), {
    used: 'over_budget',
    rest: 'over_budget',
    small: 'over_budget',
    enough: 'ran',
    earlier: 'ran',
    free: 'ran',
  });
  t.same(await needs(), named);
  clock.set('2026-12-01T00:00:00.000Z');
  t.same(await needs(), named.slice(0, 1));
});
