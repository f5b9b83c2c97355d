import t from 'tap';
import { buildModelAnswer, readInstructions, testAgent } from '../../../api/test/support/agent.ts';
import { postTask, readTask, runDue } from '../../../api/test/support/tasks.ts';
import { visit } from '../support/visitor.ts';

const { app, ctx, ai, alice, clock } = await testAgent(t);

async function run(id: number, text: string) {
  ai.answer(() => ({ text }));
  await app.inject({ method: 'POST', url: `/api/tasks/${id}/execute`, headers: alice().headers });
  await runDue(ctx);
}

t.test('Another task is chosen in the form, and gets a name for the prompt by itself', async (t) => {
  const rates = await postTask(app, alice(), { name: 'Exchange rates, überall' });
  const news = await postTask(app, alice(), { name: '7 news' });
  const id = await postTask(app, alice(), { name: 'Price of the ferry' });
  const visitor = visit(app, alice());
  const form = await visitor.open(`/tasks/${id}/edit`);
  const chosen = { inputTask: [String(rates), String(news)], inputName: ['', ''] };
  await visitor.submit(form, 'Save task', chosen);
  t.same((await readTask(app, alice(), id)).inputs, [
    { taskId: rates, name: 'exchange_rates_u_berall' },
    { taskId: news, name: 'task_7_news' },
  ]);
  t.match((await visitor.open(`/tasks/${id}`)).text, /Other tasks ?exchange_rates_u_berall, task_7_news/);
  const again = await visitor.open(`/tasks/${id}/edit`);
  await visitor.submit(again, 'Save task', { prompt: 'Another prompt.' });
  t.equal((await readTask(app, alice(), id)).inputs.length, 2, 'another change leaves them');
  const wrong = await visitor.submit(again, 'Save task', { inputName: ['Rates', 'task_7_news', '', ''] });
  t.match(wrong, { status: 422, text: /Other task.*must begin with a small letter/ });
  t.equal(wrong.document.querySelector('#inputs')?.getAttribute('aria-describedby'), 'inputs-error');
  await visitor.submit(wrong, 'Save task', { inputTask: ['', '', '', ''], inputName: ['', '', '', ''] });
  t.same((await readTask(app, alice(), id)).inputs, []);
});

t.test('A deleted task is shown as such, and its row can be cleared', async (t) => {
  const rates = await postTask(app, alice(), { name: 'Exchange rates' });
  const id = await postTask(app, alice(), { inputs: [{ taskId: rates, name: 'rates' }] });
  await app.inject({ method: 'DELETE', url: `/api/tasks/${rates}`, headers: alice().headers });
  const visitor = visit(app, alice());
  const form = await visitor.open(`/tasks/${id}/edit`);
  t.equal(form.document.querySelector('select[name="inputTask"] option[selected]')?.text, 'deleted');
  t.match(await visitor.submit(form, 'Save task'), { status: 422, text: /Other task 1 is not one of your tasks/ });
});

t.test('A prompt is tried with what an earlier run knew', async (t) => {
  const id = await postTask(app, alice(), { prompt: 'Compare {{previous_result}} at {{time}}.' });
  await run(id, 'The first answer.');
  clock.advance(3_600_000);
  await run(id, 'The second answer.');
  clock.advance(3_600_000);
  ai.requests.length = 0;
  ai.answer(buildModelAnswer('Compared.'));
  const visitor = visit(app, alice());
  const form = await visitor.open(`/tasks/${id}/edit`);
  const [now, second] = form.document.querySelectorAll('select[name="asOf"] option');
  t.equal(now?.text, 'now');
  t.match(second?.text, /at the run of .*11:00/);
  const tried = await visitor.submit(form, 'Try it now', { asOf: second?.getAttribute('value') ?? '' });
  t.match(tried, { status: 200, text: /Compared\./ });
  t.match(ai.requests[0]?.body.messages.at(-1)?.content, /Compare BEGIN \w+ The first answer\. END \w+ at 11:00\./);
  t.match(readInstructions(ai.requests[0]!), 'on demand');
  t.match(tried.document.querySelector('select[name="asOf"] option[selected]')?.text, /11:00/);
});
