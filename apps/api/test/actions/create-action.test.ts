import { connect, rateHits, rateWindows, settings } from '@carillon/db';
import t from 'tap';
import {
  assertActionNeedsSession,
  FORBIDDEN,
  getData,
  listActions,
  TASK,
  testActions,
  UNAUTHORIZED,
} from '../support/actions.ts';
import { testContext } from '../support/context.ts';
import { countStatements } from '../support/database.ts';
import { signUp, signUpAda, signUpAlice } from '../support/people.ts';

const test = await testContext(t);
const { app, ctx, logged } = test;
const actions = testActions(ctx);
const alice = await signUpAlice(app);
const ada = await signUpAda(app);
const INTERNAL = { success: false, error: 'Internal error', code: 'INTERNAL_ERROR' };

t.test('The 21 specified actions exist, and those that begin and end a session', async (t) => {
  t.same(Object.keys(actions).sort(), [
    'backfillTask',
    'cancelExecution',
    'changePassword',
    'createCoupon',
    'createTask',
    'createWebhook',
    'deleteTask',
    'duplicateTask',
    'executeTask',
    'getExecutionDetails',
    'getExecutions',
    'getSystemStats',
    'listUsers',
    'login',
    'logout',
    'register',
    'retryExecution',
    'skipNextRun',
    'testWebhook',
    'toggleTaskActive',
    'updateProfile',
    'updateSettings',
    'updateTask',
    'updateUserRole',
  ]);
});

t.test('Every action needs a live session of an active account, and is unavailable during maintenance', async (t) => {
  for (const [name, act] of listActions(actions)) {
    await t.test(name, (t) => assertActionNeedsSession(t, test, (session) => act(session, '1', {}, {})));
  }
});

t.test('Admin actions need the role, and no key', async (t) => {
  const forAdmins = ['getSystemStats', 'listUsers', 'updateUserRole', 'createCoupon'];
  for (const [name, act] of listActions(actions)) {
    const answer = await act(alice.token, '1', {}, {});
    if (forAdmins.includes(name)) t.same(answer, FORBIDDEN, name);
    else t.not(answer.code, 'INSUFFICIENT_PERMISSIONS', name);
  }
  for (const name of forAdmins)
    t.not((await new Map(listActions(actions)).get(name)?.(ada.token))?.code, FORBIDDEN.code);
});

t.test('An admin can work during maintenance', async (t) => {
  await ctx.db.update(settings).set({ maintenanceMode: true });
  t.equal((await actions.getSystemStats(ada.token)).success, true);
  t.equal((await actions.getExecutions(alice.token)).success, false);
  await ctx.db.update(settings).set({ maintenanceMode: false });
  t.equal((await actions.getExecutions(alice.token)).success, true);
});

t.test('The caller is checked before the input', async (t) => {
  t.same(await actions.createTask(null, {} as never), UNAUTHORIZED);
  t.same(await actions.createCoupon(alice.token, { value: -1 }), FORBIDDEN);
  t.match(await actions.createCoupon(ada.token, { value: -1 }), { details: { value: ['must be at least 1'] } });
});

t.test('An unexpected error is returned without its cause, which is logged with the request id', async (t) => {
  const id = (await getData(actions.createTask(alice.token, TASK))).id;
  for (const thrown of [new Error('hunter2 of the worker'), 'just text', null, undefined]) {
    logged.length = 0;
    const wakeExecutions = () => {
      throw thrown;
    };
    const broken = testActions({ ...ctx, worker: { ...ctx.worker, wakeExecutions } });
    t.same(await broken.executeTask(alice.token, id), INTERNAL);
    const [line, last] = logged;
    t.match(line, { level: 50, action: 'executeTask', msg: 'action failed' });
    t.match(last, {
      level: 30,
      action: 'executeTask',
      userId: alice.id,
      code: 'INTERNAL_ERROR',
      requestId: line?.requestId,
    });
    if (thrown instanceof Error)
      t.match(line, { err: { message: 'hunter2 of the worker', stack: /create-action\.test/ } });
  }
});

t.test('Every action reports an unavailable database', async (t) => {
  const { db, close } = connect('postgres://nobody@127.0.0.1:1/nothing');
  t.teardown(close);
  logged.length = 0;
  const away = testActions({ ...ctx, db });
  for (const [name, act] of listActions(away)) {
    const answer = await act(alice.token, '1', {}, {});
    const error = 'The service is not available at this moment.';
    t.same(answer, { success: false, error, code: 'SERVICE_UNAVAILABLE' }, name);
  }
  t.ok(logged.some(({ level, msg }) => level === 50 && msg === 'action failed'));
});

t.test('A call is one line of the log, without its input', async (t) => {
  logged.length = 0;
  await actions.changePassword(alice.token, { currentPassword: 'secret-of-alice', newPassword: 'no' });
  await actions.createTask(alice.token, { ...TASK, prompt: 'the secret prompt of Alice' });
  t.equal(logged.length, 2);
  t.match(logged[0], { action: 'changePassword', userId: alice.id, code: 'INVALID', ms: Number, requestId: String });
  t.match(logged[1], { action: 'createTask', code: undefined });
  t.not(logged[0]?.requestId, logged[1]?.requestId);
  t.notMatch(JSON.stringify(logged), /secret/);
});

t.test('An action without a limit counts nothing, and takes one statement before the service function', async (t) => {
  const carol = await signUp(app, { name: 'Carol' });
  const before = await ctx.db.$count(rateWindows);
  const statements = countStatements(ctx.db);
  for (let i = 0; i < 5; i++) t.match(await actions.toggleTaskActive(carol.token, 'x', true), { code: 'NOT_FOUND' });
  t.equal(statements(), 5);
  t.equal(await ctx.db.$count(rateWindows), before);
  t.equal(await ctx.db.$count(rateHits), 0);
});

t.test('An action with a limit takes two statements before the service function', async (t) => {
  const statements = countStatements(ctx.db);
  t.match(await actions.executeTask(alice.token, 'x'), { code: 'NOT_FOUND' });
  t.equal(statements(), 2, 'session with maintenance, and limit');
});
