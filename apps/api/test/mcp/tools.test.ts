import { API_KEY_SCOPES, type ApiKeyScope } from '@carillon/contract/accounts/api-keys';
import { auditLog, tasks } from '@carillon/db';
import { asc, eq } from 'drizzle-orm';
import t from 'tap';
import { TOOLS } from '../../src/handlers/mcp/tools/index.ts';
import { testContext } from '../support/context.ts';
import { readServedDocument } from '../support/contract/served-document.ts';
import { readKeys } from '../support/idempotency.ts';
import { createKey } from '../support/keys.ts';
import { signUp } from '../support/people.ts';
import { postTask } from '../support/tasks.ts';
import { callTool, compileStrictly, listTools } from './support/call-tool.ts';

const { app, ctx } = await testContext(t);
const LISBON = { timezone: 'Europe/Lisbon' };

/** A user with a key of all scopes. */
async function createOwner(traits: Parameters<typeof signUp>[1] = LISBON) {
  const person = await signUp(app, traits);
  const key = await createKey(app, person);
  const call = (name: string, given: object = {}) => callTool(app, key, name, given);
  return { ...person, key, call };
}

const NEW = {
  name: 'Prices',
  prompt: 'Compare these two prices.',
  scheduledFor: '2026-11-27T17:00',
  recurrence: 'weekly',
};
const countTasks = ({ id }: { id: number }) => ctx.db.$count(tasks, eq(tasks.userId, id));

/** By name: scope, and whether it only reads, may destroy, may be repeated, and reaches others. */
const EXPECTED: Record<string, [ApiKeyScope, string]> = {
  preview_schedule: ['tasks:read', 'reads'],
  create_task: ['tasks:write', 'reaches others'],
  list_tasks: ['tasks:read', 'reads'],
  get_task: ['tasks:read', 'reads'],
  update_task: ['tasks:write', 'destroys, repeatable, reaches others'],
  delete_task: ['tasks:write', 'destroys, repeatable'],
  run_task: ['executions:run', 'reaches others'],
  cancel_run: ['executions:run', 'destroys, repeatable'],
  list_runs: ['executions:read', 'reads'],
  get_run: ['executions:read', 'reads'],
  list_alerts: ['executions:read', 'reads'],
  get_usage: ['usage:read', 'reads'],
  list_channels: ['webhooks:read', 'reads'],
  list_templates: ['tasks:read', 'reads'],
};

t.test('Tools have the hints of what they do, and need the scope of the route that does the same', async (t) => {
  const { key } = await createOwner();
  const words = {
    readOnlyHint: 'reads',
    destructiveHint: 'destroys',
    idempotentHint: 'repeatable',
    openWorldHint: 'reaches others',
  };
  const listed = (await listTools(app, key)).map(({ name, annotations }) => {
    const hints = Object.entries(words).flatMap(([hint, word]) => (annotations[hint] ? [word] : []));
    return [name, [TOOLS.find((tool) => tool.name === name)?.scope, hints.join(', ')]];
  });
  t.same(Object.fromEntries(listed), EXPECTED);
  const { paths } = await readServedDocument(app);
  for (const { name, as, scope } of TOOLS) {
    const [method = '', url = ''] = as.split(' ');
    t.equal(paths[url.replace(':id', '{id}')][method.toLowerCase()]['x-scope'], scope, name);
  }
});

t.test('The schemas of tools are small, self-contained, and compile in the strictest validator', async (t) => {
  const { key } = await createOwner();
  const tools = await listTools(app, key);
  t.ok(Buffer.byteLength(JSON.stringify({ tools })) < 27_000, `${Buffer.byteLength(JSON.stringify({ tools }))} bytes`);
  for (const { name, inputSchema, outputSchema } of tools) {
    for (const schema of [inputSchema, outputSchema]) {
      t.doesNotThrow(() => compileStrictly(schema), name);
      t.notMatch(JSON.stringify(schema), /"\$ref"|"\$id"|"x-|"format"/, name);
      t.equal(schema.type, 'object', name);
    }
    t.equal(inputSchema.additionalProperties, false, name);
  }
});

/** Arguments that are valid, for the task and run with these ids. */
const valid = (taskId: number, runId: number): Record<string, object> => ({
  preview_schedule: { scheduledFor: NEW.scheduledFor, recurrence: 'weekly' },
  create_task: NEW,
  list_tasks: {},
  get_task: { taskId },
  update_task: { taskId, name: 'Taken over' },
  delete_task: { taskId },
  run_task: { taskId },
  cancel_run: { runId },
  list_runs: { taskId },
  get_run: { runId },
  list_alerts: { taskId },
  get_usage: {},
  list_channels: {},
  list_templates: {},
});

t.test('A key without the scope of a tool is refused, with its name', async (t) => {
  const alice = await createOwner();
  for (const [name, [scope]] of Object.entries(EXPECTED)) {
    const others = (Object.keys(API_KEY_SCOPES) as ApiKeyScope[]).filter((one) => one !== scope && one !== 'admin');
    const key = await createKey(app, alice, { scopes: others });
    const { isError, text } = await callTool(app, key, name, valid(1, 1)[name]);
    t.ok(isError, name);
    t.match(text, `does not have the scope ${scope}.`, name);
  }
  t.equal(await countTasks(alice), 0);
});

t.test("A stranger's tasks and runs are not found, and not in the lists", async (t) => {
  const [alice, bob] = [await createOwner(), await createOwner()];
  const taskId = await postTask(app, alice);
  const { runId } = (await alice.call('run_task', { taskId })).data;
  const given = valid(taskId, runId);
  for (const name of ['get_task', 'update_task', 'delete_task', 'run_task'])
    t.match(await bob.call(name, given[name]), { isError: true, text: 'Task not found. Call list_tasks' }, name);
  for (const name of ['get_run', 'cancel_run'])
    t.match(await bob.call(name, given[name]), { isError: true, text: 'Execution not found. Call list_runs' }, name);
  t.same((await bob.call('list_tasks')).data.tasks, []);
  t.same((await bob.call('list_runs', { taskId })).data.runs, []);
  t.same((await bob.call('list_alerts', { taskId })).data.alerts, []);
  t.match((await alice.call('get_run', { runId })).data.run, { status: 'pending' });
});

const UNKNOWN_CHANNEL = '3b241101-e2bb-4255-8caf-4136c566a962';
const REFUSED: [tool: string, given: object, text: string | RegExp][] = [
  ['create_task', { name: 'Prices' }, '- prompt: is required'],
  ['create_task', { ...NEW, cron: '0 17 * * 5' }, '- cron: is not a known field'],
  ['create_task', { ...NEW, name: 'ab' }, '- name: must be at least 3 characters'],
  ['create_task', { ...NEW, attachments: [] }, '- attachments: is not a known field'],
  [
    'create_task',
    { ...NEW, scheduledFor: '2025-11-27T17:00' },
    '- scheduledFor: must be in the future; it is Friday 20 November 2026, 10:00 Europe/Lisbon now',
  ],
  [
    'create_task',
    { ...NEW, scheduledFor: 'Friday at five' },
    '- scheduledFor: must be a local time such as 2026-11-27T17:00',
  ],
  ['create_task', { ...NEW, scheduledFor: '2026-02-30T17:00' }, '- scheduledFor: must be a local time'],
  ['create_task', { ...NEW, scheduledFor: '10000-01-01T00:00' }, '- scheduledFor: must be a local time'],
  ['create_task', { ...NEW, timezone: 'Lisbon' }, '- timezone: must be an IANA time zone name, such as Europe/Lisbon'],
  ['create_task', { ...NEW, recurrencePattern: '0 25 * * *' }, /- recurrencePattern: .*25/],
  ['create_task', { ...NEW, endsAt: '2026-11-01T00:00' }, '- endsAt: must be in the future; it is Friday'],
  [
    'create_task',
    { ...NEW, channels: [UNKNOWN_CHANNEL] },
    '- channels: item 1 is not one of your channels; call list_channels for the ids',
  ],
  ['create_task', { ...NEW, tools: ['web_search'] }, /- tools: .*tools/],
  ['create_task', { ...NEW, channels: ['Slack'] }, '- channels: item 1 must be a UUID'],
  ['create_task', { ...NEW, requestId: '' }, '- requestId: must not be empty'],
  ['preview_schedule', { ...valid(1, 1).preview_schedule, count: 51 }, '- count: must be at most 50'],
  [
    'preview_schedule',
    { ...valid(1, 1).preview_schedule, recurrence: 'once', scheduledFor: '2026-11-20T09:59' },
    'it is Friday',
  ],
  ['update_task', { name: 'Prices' }, '- taskId: is required'],
  ['update_task', { taskId: 2147483647, etag: 'a b' }, '- etag: has the wrong form'],
  ['get_task', { taskId: '12abc' }, '- taskId: must be an integer'],
  ['get_task', { taskId: 2147483648 }, '- taskId: must be at most 2147483647'],
  ['list_tasks', { cursor: 'abc' }, '- cursor: is not a cursor of this list'],
  ['list_tasks', { limit: 0 }, '- limit: must be at least 1'],
  ['list_tasks', { status: 'done' }, '- status: must be one of active, paused, completed, failed'],
  ['list_runs', { startDate: '2026-13-01' }, '- startDate: must be a day such as 2026-11-20, or a time'],
  ['list_runs', { endDate: 'yesterday' }, '- endDate: must be a local time'],
  ['list_alerts', { kind: 'task.lost' }, '- kind: must be one of task.overdue'],
  ['get_usage', { month: '2026-11' }, '- month: is not a known field'],
];

t.test('A refused call says which field is wrong, why, and what to do, and changes nothing', async (t) => {
  const alice = await createOwner();
  for (const [name, given, text] of REFUSED) {
    const answer = await alice.call(name, given);
    t.match(answer, { isError: true, text }, `${name} ${JSON.stringify(given)}`);
  }
  t.equal(await countTasks(alice), 0);
  t.same(await readAudit(alice), []);
});

t.test('Beyond the quota of active tasks, the answer says what to do', async (t) => {
  const alice = await createOwner();
  for (let count = 0; count < 10; count++) await postTask(app, alice);
  const refused = await alice.call('create_task', { ...NEW, requestId: 'one' });
  t.match(refused, {
    isError: true,
    text: /^The quota of 10 active tasks is used up: pause or delete one first\. Ask the user which task to pause/,
  });
  t.notOk((await alice.call('create_task', { ...NEW, requestId: 'one', status: 'paused' })).isError);
});

t.test('Of many update_task with one etag at once, exactly one succeeds', async (t) => {
  const alice = await createOwner();
  const taskId = await postTask(app, alice);
  const { etag } = (await alice.call('get_task', { taskId })).data;
  const names = Array.from({ length: 8 }, (_, at) => `Name ${at}`);
  const answers = await Promise.all(names.map((name) => alice.call('update_task', { taskId, etag, name })));
  const [won, ...others] = answers.filter(({ isError }) => !isError);
  t.same(others, []);
  for (const { isError, text } of answers) if (isError) t.match(text, /has changed since.*Call get_task/);
  const read = (await alice.call('get_task', { taskId })).data;
  t.equal(read.task.name, names[answers.indexOf(won as (typeof answers)[number])]);
  t.equal(read.etag, won?.data.etag);
  t.match(await alice.call('delete_task', { taskId, etag }), { isError: true, text: /Call get_task/ });
  t.notOk((await alice.call('delete_task', { taskId, etag: `"${read.etag}"` })).isError);
});

t.test('Calls with one requestId make one change, and answer alike', async (t) => {
  const alice = await createOwner();
  const given = { ...NEW, requestId: 'a retried call' };
  const racing = await Promise.all(Array.from({ length: 6 }, () => alice.call('create_task', given)));
  const first = racing.find(({ isError }) => !isError);
  for (const answer of racing) {
    if (answer.isError) t.match(answer.text, 'The first call with this requestId is in progress.');
    else t.same(answer, first);
  }
  t.same(await alice.call('create_task', given), first);
  t.equal(await countTasks(alice), 1);
  t.same((await readAudit(alice)).length, 1);
  t.equal((await readKeys(ctx, alice)).length, 1);

  const other = await alice.call('create_task', { ...given, name: 'Others' });
  t.match(other, { isError: true, text: 'This requestId was sent with other arguments before.' });
  const { taskId } = first?.data ?? {};
  const runs = [
    await alice.call('run_task', { taskId, requestId: 'x' }),
    await alice.call('run_task', { taskId, requestId: 'x' }),
  ];
  t.equal(runs[0]?.data.runId, runs[1]?.data.runId);
  t.equal((await alice.call('list_runs')).data.runs.length, 1);
  const bob = await createOwner();
  t.not((await bob.call('create_task', given)).data.taskId, taskId, 'of another user it is another id');
});

t.test('A requestId whose call was refused can be used again', async (t) => {
  const alice = await createOwner();
  const given = { ...NEW, requestId: 'again' };
  t.ok((await alice.call('create_task', { ...given, channels: [UNKNOWN_CHANNEL] })).isError);
  t.same(await readKeys(ctx, alice), []);
  t.notOk((await alice.call('create_task', given)).isError);
});

const readAudit = ({ id }: { id: number }) =>
  ctx.db
    .select({ kind: auditLog.kind, details: auditLog.details })
    .from(auditLog)
    .where(eq(auditLog.userId, id))
    .orderBy(asc(auditLog.id))
    .then((rows) => rows.filter(({ kind }) => kind.endsWith('_by_assistant')));

t.test('Each change is in the audit log, with the key', async (t) => {
  const alice = await createOwner();
  const { taskId } = (await alice.call('create_task', NEW)).data;
  await alice.call('update_task', { taskId, status: 'paused' });
  const { runId: executionId } = (await alice.call('run_task', { taskId })).data;
  await alice.call('cancel_run', { runId: executionId });
  await alice.call('cancel_run', { runId: executionId });
  await alice.call('delete_task', { taskId });
  const key = { keyId: alice.key.id, keyName: 'A program' };
  t.match(await readAudit(alice), [
    { kind: 'task.created_by_assistant', details: { tool: 'create_task', taskId, ...key } },
    { kind: 'task.changed_by_assistant', details: { tool: 'update_task', taskId, ...key } },
    { kind: 'execution.started_by_assistant', details: { tool: 'run_task', taskId, executionId, ...key } },
    { kind: 'execution.cancelled_by_assistant', details: { tool: 'cancel_run', taskId, executionId, ...key } },
    { kind: 'task.deleted_by_assistant', details: { tool: 'delete_task', taskId, ...key } },
  ]);
  t.equal((await readAudit(alice)).length, 5);
});

t.test('A tool and its route share one rate limit', async (t) => {
  const { app } = await testContext(t, { env: { RATE_LIMIT_MULTIPLIER: '0.2' } });
  const key = await createKey(app, await signUp(app));
  const remove = () => app.inject({ method: 'DELETE', url: '/api/tasks/1', headers: key.headers });
  t.equal((await remove()).statusCode, 404);
  t.match((await callTool(app, key, 'delete_task', { taskId: 1 })).text, 'Task not found');
  t.match((await callTool(app, key, 'delete_task', { taskId: 1 })).text, /[Rr]ate limit|Too many/);
  t.equal((await remove()).statusCode, 429);
});
