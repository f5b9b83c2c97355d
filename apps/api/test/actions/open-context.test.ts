import { readdirSync } from 'node:fs';
import t from 'tap';
import { openContext } from '../../src/entry/open-context.ts';
import { loadConfig } from '../../src/lib/config/config.ts';
import { getData, TASK, testActions } from '../support/actions.ts';
import { testContext } from '../support/context.ts';
import { signUpAlice } from '../support/people.ts';
import { readTask, runDue } from '../support/tasks.ts';

const { app, ctx, databaseUrl } = await testContext(t);
const alice = await signUpAlice(app);
const env = { NODE_ENV: 'test', DATA_DIR: ctx.config.dataDir, LOG_LEVEL: 'fatal' };

t.test('A web client in a process of its own queues tasks that the worker of another process runs', async (t) => {
  const own = await openContext(loadConfig({ ...env, DATABASE_URL: databaseUrl }));
  t.teardown(own.close);
  const actions = testActions({ ...own.ctx, now: ctx.now, tokens: ctx.tokens });
  const { id } = await getData(actions.createTask(alice.token, TASK));
  t.match(await readTask(app, alice, Number(id)), { name: TASK.name, status: 'active' });
  const { executionId } = await getData(actions.executeTask(alice.token, id));
  await runDue(ctx);
  t.match(await getData(actions.getExecutionDetails(alice.token, executionId)), { status: 'SUCCESS' });
  t.same(await actions.deleteTask(alice.token, id), { success: true, data: null });
});

t.test('After it is closed every action reports that the service is unavailable', async (t) => {
  const own = await openContext(loadConfig({ ...env, DATABASE_URL: databaseUrl }));
  const actions = testActions({ ...own.ctx, now: ctx.now, tokens: ctx.tokens });
  t.equal((await actions.getExecutions(alice.token)).success, true);
  await own.close();
  t.match(await actions.getExecutions(alice.token), { success: false, code: 'SERVICE_UNAVAILABLE' });
});

t.test('Without a URL and without a running embedded database the context does not open', async (t) => {
  const dataDir = t.testdir();
  await t.rejects(openContext(loadConfig({ ...env, DATA_DIR: dataDir })), {
    message: `The embedded PostgreSQL in ${dataDir} does not run: start Carillon first, with this DATA_DIR, or set DATABASE_URL.`,
  });
  t.same(readdirSync(dataDir), ['secrets.json'], 'no cluster is created');
});
