import {
  AuthenticationError,
  type BodyOf,
  Carillon,
  NotFoundError,
  PreconditionFailedError,
  type Task,
} from '@carillon/client';

/*
 * What a program does with the client, in any runtime: only web standards. Each runtime has an account of its own.
 */

const PROMPT = 'Write one sentence that begins a working day well.';

const SCOPES: BodyOf<'createApiKey'>['scopes'] = [
  'tasks:read',
  'tasks:write',
  'executions:read',
  'executions:run',
  'agent:run',
  'uploads:write',
  'events:read',
  'profile:read',
];

/** Resolves if everything works; rejects with the first failure. */
export async function runJourney(baseUrl: string, account: string): Promise<void> {
  const credentials = { email: `${account}@example.com`, password: 'correct-Horse-7' };
  const visitor = new Carillon({ baseUrl });
  await visitor.auth.register({ name: account, ...credentials });
  const { token = '' } = await visitor.auth.login(credentials);
  const owner = new Carillon({ baseUrl, apiKey: token });
  const { key, secret } = await owner.keys.create({ name: 'journey', scopes: SCOPES });
  const carillon = new Carillon({ baseUrl, apiKey: secret });

  const names = ['Morning sentence', 'Noon sentence', 'Evening sentence'];
  for (const name of names) await createTask(carillon, name);
  const listed: Task[] = [];
  for await (const task of carillon.tasks.list({ limit: 2 })) listed.push(task);
  expect(listed.map(({ name }) => name).join() === names.toReversed().join(), 'the list has every task, newest first');

  const [{ id }] = listed as [Task, ...Task[]];
  await runTask(carillon, id);
  await uploadFile(carillon, id);
  await askAgent(carillon);
  await expectErrors(carillon, id);

  await owner.keys.delete(key.id);
  const error = await carillon.user.get().catch((reason: unknown) => reason);
  expect(error instanceof AuthenticationError, 'a deleted key is not valid');
  await owner.auth.logout();
}

async function createTask(carillon: Carillon, name: string): Promise<number> {
  const { taskId } = await carillon.tasks.create({
    name,
    prompt: PROMPT,
    scheduledFor: '2099-01-31T07:30:00Z',
    recurrence: 'monthly',
    timezone: 'Europe/Lisbon',
  });
  return taskId;
}

/** Runs a task twice and learns of it from the stream, which is opened in between. */
async function runTask(carillon: Carillon, id: number): Promise<void> {
  const first = await carillon.tasks.run(id);
  const ended: number[] = [];
  let second: number | undefined;
  for await (const event of carillon.events.stream({
    after: '0',
    taskId: id,
    kinds: ['task.completed', 'task.failed'],
  })) {
    if (event.event !== 'task.completed') throw new Error(`The run ended with ${event.event}.`);
    ended.push(event.data.execution.id);
    if (ended.length === 2) break;
    second = (await carillon.tasks.run(id)).executionId;
  }
  expect(ended.join() === [first.executionId, second].join(), 'the stream has both runs in order');
  const kinds: string[] = [];
  for await (const { event } of carillon.events.list({ taskId: id, limit: 2 })) kinds.push(event);
  expect(kinds[0] === 'task.created' && kinds.at(-1) === 'execution.completed', 'the log has all of it');
}

async function uploadFile(carillon: Carillon, id: number): Promise<void> {
  const file = new Blob(['day,visits\n2026-11-20,131\n'], { type: 'text/csv' });
  const { headers } = await carillon.uploads.create(file, { name: 'visits.csv' }).withResponse();
  const fileId = headers.get('x-file-id') ?? '';
  const { etag } = await carillon.tasks.get(id).withResponse();
  const ifMatch = etag ?? '';
  const { task } = await carillon.tasks.update(id, { attachments: [fileId] }, { ifMatch });
  expect(task.attachments[0] === fileId, 'the file is attached');
  const error = await carillon.tasks.update(id, { attachments: [] }, { ifMatch }).catch((reason: unknown) => reason);
  expect(error instanceof PreconditionFailedError, 'a task that has changed is not overwritten');
  await carillon.uploads.delete({ id: fileId });
}

async function askAgent(carillon: Carillon): Promise<void> {
  const { response } = await carillon.agent.run({ message: 'What should I look at first?' });
  expect(response.tokensUsed.total > 0, 'the agent answers');
  let content = '';
  for await (const event of carillon.agent.stream({ message: 'What should I look at first?' })) {
    if (event.event === 'content') content += event.text;
    else expect(event.response.content === content, 'the pieces are the whole');
  }
  expect(content !== '', 'the answer comes in pieces');
}

async function expectErrors(carillon: Carillon, id: number): Promise<void> {
  await carillon.tasks.delete(id);
  const error = await carillon.tasks.get(id).catch((reason: unknown) => reason);
  expect(
    error instanceof NotFoundError && error.code === 'NOT_FOUND' && error.requestId,
    'a deleted task is not found',
  );
  // @ts-expect-error An id of a task is a number.
  await carillon.tasks.get('seven').catch(() => {});
  const reason = new Error('stop');
  const aborted = await carillon.user.get({ signal: AbortSignal.abort(reason) }).catch((given: unknown) => given);
  expect(aborted === reason, 'an abort is thrown as it is');
}

function expect(condition: unknown, statement: string): asserts condition {
  if (!condition) throw new Error(`It is not so that ${statement}.`);
}
