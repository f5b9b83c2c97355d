import t from 'tap';
import { enqueueDue } from '../../../api/src/product/executions/pipeline/enqueue.ts';
import { pipeline } from '../../../api/src/product/executions/pipeline.ts';
import { testContext } from '../../../api/test/support/context.ts';
import { signUp } from '../../../api/test/support/people.ts';
import { insertTask, readRun, readRuns } from '../../../api/test/support/task-rows.ts';
import { answer, createModel, failure, runAll } from '../support/runs.ts';
import { visit } from '../support/visitor.ts';

const model = createModel();
const { app, ctx, clock } = await testContext(t, { ai: model.ai });
const newAlice = () => signUp(app, { name: 'Alice', timezone: 'Europe/Berlin' });

/** A run that is queued, and started if `isRunning`. */
async function liveRun(userId: number, isRunning = true, values: Parameters<typeof insertTask>[2] = {}) {
  const task = await insertTask(ctx, userId, values);
  await enqueueDue(ctx);
  if (isRunning) await pipeline.claim(ctx, { limit: 1, after: 0 });
  return { task, id: (await readRun(ctx, task)).id };
}

for (const isRunning of [true, false]) {
  t.test(`A run that ${isRunning ? 'runs' : 'waits'} is stopped on its page, which then says so`, async (t) => {
    const alice = await newAlice();
    const { task, id } = await liveRun(alice.id, isRunning);
    const visitor = visit(app, alice);
    const page = await visitor.open(`/executions/${id}`);
    const stopped = await visitor.submit(page, 'Stop');
    t.match(stopped, { status: 200, url: `/executions/${id}`, text: /The run is stopped\./ });
    t.match(stopped.text, /Stopped · run \d+.*The run was stopped.*Run the task again if you still want its answer\./);
    t.notMatch(stopped.text, /cancelled|CANCELLED|Failed/);
    t.match(stopped.document.querySelector('.notice.calm')?.text, /The run was stopped/, 'the panel is no alarm');
    t.equal(stopped.document.querySelectorAll('main svg.failed').length, 0, 'no sign of a failure');
    t.ok(stopped.document.querySelector('section[aria-labelledby=steps] li:last-child svg.skipped .hollow'));
    t.notOk(stopped.document.querySelector('button[formaction$="/cancel"]'));
    t.match(await readRun(ctx, task), { status: 'failed', errorCode: 'CANCELLED' });
    t.match(await visitor.submit(stopped, 'Run again'), { status: 200, text: /The run is queued\./ });
  });
}

t.test('A list says once that a run was stopped', async (t) => {
  const alice = await newAlice();
  const { task, id } = await liveRun(alice.id);
  const visitor = visit(app, alice);
  await visitor.submit(await visitor.open(`/executions/${id}`), 'Stop');
  for (const path of ['/executions', `/tasks/${task}`, '/executions.csv']) {
    const { response } = await visitor.open(path);
    t.match(response.body, /Stopped/, path);
    t.notMatch(response.body, /was cancelled/, path);
  }
});

t.test('A retry that waits can be run now or stopped', async (t) => {
  const alice = await newAlice();
  const task = await insertTask(ctx, alice.id);
  await runAll(ctx, model, failure('TIMEOUT', 'Too slow.', true));
  const [, retry] = await readRuns(ctx, task);
  const visitor = visit(app, alice);
  const page = await visitor.open(`/executions/${retry!.id}`);
  t.same(
    page.document.querySelectorAll('form.do button').map(({ text }) => text),
    ['Run now', 'Stop'],
  );
  t.match(await visitor.submit(page, 'Stop'), { text: /Stopped · attempt 2/ });
});

t.test('A run that has ended meanwhile is not stopped: its page says why', async (t) => {
  const alice = await newAlice();
  const { id } = await liveRun(alice.id, false);
  const visitor = visit(app, alice);
  const page = await visitor.open(`/executions/${id}`);
  await runAll(ctx, model, answer('Quiet.'));
  t.match(await visitor.submit(page, 'Stop'), { status: 409, text: /This run has already ended\..*Quiet\./ });
});

t.test('A run is stopped on the page of its task, whose strip shows it', async (t) => {
  const alice = await newAlice();
  const { task, id } = await liveRun(alice.id);
  const visitor = visit(app, alice);
  const page = await visitor.open(`/tasks/${task}`);
  t.match(await visitor.submit(page, 'Stop run'), { url: `/executions/${id}`, text: /The run is stopped\./ });
  const after = await visitor.open(`/tasks/${task}`);
  t.match(after.text, /1 stopped/);
  t.notMatch(after.text, /The last run failed|Stop run/);
  t.match((await visitor.open('/tasks')).text, /Stopped/);
});

t.test('A task that runs once says that its run was stopped', async (t) => {
  const alice = await newAlice();
  const { task, id } = await liveRun(alice.id, true, { recurrence: 'once' });
  const visitor = visit(app, alice);
  await visitor.submit(await visitor.open(`/executions/${id}`), 'Stop');
  const page = await visitor.open(`/tasks/${task}`);
  t.match(page.text, /Stopped by you\. It does not run again by itself\./);
});

t.test("A stranger's run is not stopped", async (t) => {
  const alice = await newAlice();
  const { task } = await liveRun(alice.id);
  clock.advance(1000);
  const bob = await signUp(app, { name: 'Bob' });
  const own = await liveRun(bob.id, false);
  const visitor = visit(app, bob);
  const page = await visitor.open(`/executions/${own.id}`);
  const strange = (await readRun(ctx, task)).id;
  page.document
    .querySelector('button[formaction$="/cancel"]')
    ?.setAttribute('formaction', `/executions/${strange}/cancel`);
  t.match(await visitor.submit(page, 'Stop'), { status: 404 });
  t.match(await readRun(ctx, task), { status: 'running' });
});
