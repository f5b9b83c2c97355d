import { executions, users } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import type { AiOutcome } from '../../src/lib/ai/client.ts';
import { getData, notFoundError, TASK, testActions, validationError } from '../support/actions.ts';
import { START, testContext } from '../support/context.ts';
import { type Person, signUpAda, signUpAlice, signUpBob } from '../support/people.ts';
import { REFUSED_OUTCOME, runDue } from '../support/tasks.ts';

const ANSWERED: AiOutcome = {
  ok: true,
  text: 'Nothing happened.',
  durationMs: 7,
  usage: { model: 'small-model-2', inputTokens: 12, outputTokens: 3, costUsd: 0.25, estimated: false },
};
let outcome: AiOutcome = ANSWERED;
const ai = { ask: async () => outcome, close: async () => {} };
const { app, ctx, clock } = await testContext(t, { ai });
const actions = testActions(ctx);
let alice: Person;
let bob: Person;
let ada: Person;
let id: string;
t.beforeEach(async () => {
  outcome = ANSWERED;
  clock.set(START);
  await ctx.db.delete(users);
  [alice, bob, ada] = [await signUpAlice(app), await signUpBob(app), await signUpAda(app)];
  id = (await getData(actions.createTask(alice.token, TASK))).id;
});
const execute = async (taskId = id) => (await getData(actions.executeTask(alice.token, taskId))).executionId;
const list = (input: object = {}, { token } = alice) => getData(actions.getExecutions(token, input));
const idsOf = async (input: object) => (await list(input)).executions.map((execution) => execution.id);

t.test('executeTask queues a run and returns its id and time', async (t) => {
  const data = await getData(actions.executeTask(alice.token, id));
  t.same(data, { executionId: data.executionId, status: 'PENDING', startedAt: START.toISOString() });
  t.match(await list(), { executions: [{ id: data.executionId, taskId: id, status: 'PENDING', startedAt: null }] });
});

t.test('Executions with every result have the states of the actions', async (t) => {
  const done = await execute();
  clock.advance(1000);
  await runDue(ctx);
  outcome = REFUSED_OUTCOME;
  const failed = await execute();
  await runDue(ctx);
  const at = ctx.now().toISOString();
  const waits = await execute();
  const common = { taskId: id, startedAt: at, completedAt: at };
  t.same(await list(), {
    executions: [
      {
        ...common,
        id: waits,
        status: 'PENDING',
        startedAt: null,
        completedAt: null,
        duration: null,
        result: null,
        error: null,
      },
      { ...common, id: failed, status: 'FAILED', duration: 5, result: null, error: 'No such model.' },
      { ...common, id: done, status: 'SUCCESS', duration: 7, result: 'Nothing happened.', error: null },
    ],
    total: 3,
    hasMore: false,
  });
  const lease = { claimToken: '00000000-0000-4000-8000-000000000000', leaseUntil: ctx.now() };
  await ctx.db
    .update(executions)
    .set({ status: 'running', startedAt: ctx.now(), ...lease })
    .where(eq(executions.id, Number(waits)));
  for (const [status, ids] of [
    ['PENDING', []],
    ['RUNNING', [waits]],
    ['SUCCESS', [done]],
    ['FAILED', [failed]],
  ] as const) {
    t.same(await idsOf({ status }), ids, status);
  }
});

t.test('getExecutions pages, and filters by task and by time', async (t) => {
  const other = (await getData(actions.createTask(alice.token, TASK))).id;
  const ids: string[] = [];
  for (let n = 0; n < 22; n++) ids.unshift(await execute(n < 20 ? id : other));
  clock.set('2026-11-21T10:00:00Z');
  ids.unshift(await execute(other));
  for (const first of [await list(), await getData(actions.getExecutions(alice.token))]) {
    t.same([first.executions.length, first.total, first.hasMore], [20, 23, true], 'default: 20');
  }
  t.same(await idsOf({ limit: 1, offset: 1 }), ids.slice(1, 2));
  t.equal((await idsOf({ limit: 100 })).length, 23);
  t.match(await list({ offset: 20 }), { total: 23, hasMore: false });
  t.match(await list({ offset: 2_147_483_647 }), { executions: [], total: 23, hasMore: false });
  t.same(await idsOf({ taskId: other }), ids.slice(0, 3));
  t.same(await idsOf({ startDate: '2026-11-21' }), ids.slice(0, 1));
  t.equal((await list({ endDate: '2026-11-20' })).total, 22);
  t.equal((await list({ startDate: '2026-11-20T10:00:00Z', endDate: '2026-11-20T10:00:00Z' })).total, 22);
  t.equal((await list({ startDate: new Date('2026-11-21T00:00:00Z') })).total, 1, 'a Date is accepted as its text');
});

t.test('A task that is unknown or a stranger’s has no executions', async (t) => {
  await execute();
  for (const taskId of ['0', 'abc', '2147483648', '2147483647']) {
    t.same(await list({ taskId }), { executions: [], total: 0, hasMore: false }, taskId);
  }
  t.same(await list({ taskId: id }, bob), { executions: [], total: 0, hasMore: false });
  t.equal((await list({}, bob)).total, 0);
});

t.test('An invalid filter is rejected by name', async (t) => {
  const rejected = (input: object) => actions.getExecutions(alice.token, input);
  t.same(await rejected({ limit: 0 }), validationError({ limit: ['must be at least 1'] }));
  t.match(await rejected({ limit: 101 }), { success: true }, 'a limit above the maximum is cut');
  t.same(await rejected({ limit: '5' }), validationError({ limit: ['must be an integer'] }));
  t.same(await rejected({ offset: -1 }), validationError({ offset: ['must be at least 0'] }));
  t.same(await rejected({ taskId: 7 }), validationError({ taskId: ['must be a string'] }));
  t.same(
    await rejected({ status: 'completed' }),
    validationError({ status: ['must be one of PENDING, RUNNING, SUCCESS, FAILED'] }),
  );
  t.match(await rejected({ startDate: 'yesterday' }), { details: { startDate: [/day/] } });
  t.match(await rejected({ endDate: new Date(Number.NaN) }), { details: { endDate: ['must be a string'] } });
});

t.test('getExecutionDetails has the task, the steps and the metadata', async (t) => {
  const run = await execute();
  t.match(await getData(actions.getExecutionDetails(alice.token, run)), {
    metadata: { model: TASK.model, tokens: { prompt: 0, completion: 0, total: 0 }, cost: 0 },
  });
  await runDue(ctx);
  const at = START.toISOString();
  const data = await getData(actions.getExecutionDetails(alice.token, run));
  t.same(
    { ...data, logs: [] },
    {
      ...{ id: run, taskId: id, status: 'SUCCESS', startedAt: at, completedAt: at, duration: 7 },
      ...{ result: 'Nothing happened.', error: null },
      task: { id, name: TASK.name, prompt: TASK.prompt, model: TASK.model },
      logs: [],
      metadata: { model: 'small-model-2', tokens: { prompt: 12, completion: 3, total: 15 }, cost: 0.25 },
    },
  );
  t.ok(data.logs.length >= 3);
  t.match(data.logs[0], { timestamp: at, message: 'Queued on demand.' });
});

t.test('A failed execution is retried once; any other is not', async (t) => {
  outcome = REFUSED_OUTCOME;
  const run = await execute();
  t.match(await actions.retryExecution(alice.token, run), { success: false, code: 'CONFLICT', error: /pending/ });
  await runDue(ctx);
  clock.advance(1000);
  const data = await getData(actions.retryExecution(alice.token, run));
  t.same(data, { executionId: data.executionId, status: 'PENDING', startedAt: ctx.now().toISOString() });
  t.not(data.executionId, run);
  t.same(await getData(actions.retryExecution(alice.token, run)), data, 'the retry that is scheduled already');
  outcome = ANSWERED;
  await runDue(ctx);
  t.match(await list({ status: 'SUCCESS' }), { executions: [{ id: data.executionId }], total: 1 });
  t.match(await actions.retryExecution(alice.token, data.executionId), { success: false, code: 'CONFLICT' });
});

t.test('Over quota nothing is executed and nothing is retried', async (t) => {
  outcome = REFUSED_OUTCOME;
  const run = await execute();
  await runDue(ctx);
  for (let n = 0; n < 49; n++) await execute();
  const full = {
    success: false,
    error: 'The quota of 50 executions is used up until 2026-11-21T00:00:00.000Z.',
    code: 'QUOTA_EXCEEDED',
  };
  t.same(await actions.executeTask(alice.token, id), full);
  t.same(await actions.retryExecution(alice.token, run), full);
});

t.test('A stranger’s execution is not found, not even by an admin', async (t) => {
  const run = await execute();
  for (const { token } of [bob, ada]) {
    t.same(await actions.getExecutionDetails(token, run), notFoundError('execution'));
    t.same(await actions.retryExecution(token, run), notFoundError('execution'));
    t.same(await actions.executeTask(token, id), notFoundError('task'));
  }
  t.same(await actions.getExecutionDetails(alice.token, '2147483647'), notFoundError('execution'));
  t.same(await actions.executeTask(alice.token, '2147483647'), notFoundError('task'));
});
