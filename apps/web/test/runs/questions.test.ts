import t from 'tap';
import { buildModelAnswer, testAgent } from '../../../api/test/support/agent.ts';
import { signUp } from '../../../api/test/support/people.ts';
import { readRuns } from '../../../api/test/support/task-rows.ts';
import { postTask, readTask, runDue } from '../../../api/test/support/tasks.ts';
import { type ShownPage, visit } from '../support/visitor.ts';

const { app, ctx, ai, alice } = await testAgent(t);
const HOSTILE = '"><script>alert(1)</script>';

async function open(answer: string | { status: number } = 'It costs 120 euros.') {
  const task = await postTask(app, alice(), { prompt: 'Find the price of the ferry.', maxRetries: 0 });
  await app.inject({ method: 'POST', url: `/api/tasks/${task}/execute`, headers: alice().headers });
  ai.answer(() => (typeof answer === 'string' ? { text: answer } : answer));
  await runDue(ctx);
  const [run] = await readRuns(ctx, task);
  ai.answer(buildModelAnswer('It is **the season**.', ['And in May?']));
  const visitor = visit(app, alice());
  return { visitor, task, page: await visitor.open(`/executions/${run?.id}`) };
}
const turns = ({ document }: ShownPage) =>
  document
    .querySelectorAll('#conversation .turn')
    .map((turn) => [turn.querySelector('.asked')?.text, turn.querySelector('.answer')?.text.trim()]);

t.test('A question is asked under the answer without a script, and stays there with its answer', async (t) => {
  const { visitor, page } = await open();
  t.match(page.text, /Ask about this answer.*looks nothing up.*counts as one run/);
  t.same(turns(page), []);
  const asked = await visitor.submit(page, 'Ask', { message: 'Why that much?' });
  t.same(turns(asked), [['Why that much?', 'It is the season.']]);
  const again = await visitor.submit(asked, 'Ask', { message: 'And in May?' });
  t.same(
    turns(again).map(([message]) => message),
    ['Why that much?', 'And in May?'],
  );
  t.equal(again.document.querySelector('#ask textarea')?.text.trim(), '');
});

t.test('What is refused stays in the box, with the reason', async (t) => {
  const { visitor, page } = await open();
  const empty = await visitor.submit(page, 'Ask', { message: ' ' });
  t.equal(empty.status, 422);
  t.ok(empty.document.querySelector('#message-error'));
  ai.answer(() => ({ status: 429 }));
  const failed = await visitor.submit(page, 'Ask', { message: 'Why?' });
  t.match(failed, { status: 503, text: /The provider limits how often it may be asked/ });
  t.equal(failed.document.querySelector('#ask textarea')?.text.trim(), 'Why?');
  t.same(turns(failed), []);
});

t.test('A run without an answer has no box', async (t) => {
  const { page } = await open({ status: 400 });
  t.notOk(page.document.querySelector('#ask'));
});

t.test('Text of the person and of the model stays text', async (t) => {
  const { visitor, page } = await open();
  ai.answer(buildModelAnswer(`${HOSTILE} [a](javascript:alert(1))`, []));
  const asked = await visitor.submit(page, 'Ask', { message: HOSTILE });
  t.equal(asked.document.querySelectorAll('article.turn h3').length, 1);
  t.notMatch(asked.response.body, /<script>alert|href="javascript:/);
});

t.test('Remember this opens the form with the remark in the prompt, and saves nothing', async (t) => {
  const { visitor, task, page } = await open();
  const asked = await visitor.submit(page, 'Ask', { message: 'Give prices with the tax.' });
  const form = await visitor.follow(asked, 'Remember this');
  t.match(form, { status: 200, text: /nothing is saved yet/ });
  const prompt = 'Find the price of the ferry.\n\nGive prices with the tax.';
  t.equal(form.document.querySelector('#prompt')?.text.trim(), prompt);
  t.equal((await readTask(app, alice(), task)).prompt, 'Find the price of the ferry.');
  await visitor.submit(form, 'Save task');
  t.equal((await readTask(app, alice(), task)).prompt, prompt);
});

t.test('The remark of another task or person is not found', async (t) => {
  const { visitor, page } = await open();
  const asked = await visitor.submit(page, 'Ask', { message: 'A remark.' });
  const link = asked.document.querySelector('.turn a')?.getAttribute('href') ?? '';
  const [, id] = /remember=(\d+)$/.exec(link) ?? [];
  const other = await postTask(app, alice());
  const form = await visitor.open(`/tasks/${other}/edit?remember=${id}`);
  t.notMatch(form.document.querySelector('#prompt')?.text, /A remark/);
  const bob = await signUp(app);
  const own = await postTask(app, bob);
  t.match(await visit(app, bob).open(`/tasks/${own}/edit?remember=${id}`), { status: 404 });
});
