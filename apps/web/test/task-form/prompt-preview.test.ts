import t from 'tap';
import { createWorker } from '../../../api/src/entry/worker.ts';
import { testContext } from '../../../api/test/support/context.ts';
import { signUp } from '../../../api/test/support/people.ts';
import { startAiServer } from '../../../api/test/support/servers/ai-server.ts';
import { postTask } from '../../../api/test/support/tasks.ts';
import { type ShownPage, visit } from '../support/visitor.ts';
import { readValue } from './read-form.ts';

const server = await startAiServer();
t.after(() => server.close());
const { app, ctx } = await testContext(t, { env: { AI_BASE_URL: server.url } });
const alice = await signUp(app, { timezone: 'Europe/Berlin' });
const alices = visit(app, alice);
const PROMPT = 'What is new on {{date}}, a {{weekday}}?';
const FILLED = 'What is new on 2026-11-20, a Friday?';
const SHOW = 'Preview the prompt';

const readSent = ({ document }: ShownPage) => document.querySelectorAll('#sent pre').map(({ text }) => text);

t.test('The form shows the system message and the prompt that a run would send', async (t) => {
  const typed = { name: 'Bin price', prompt: PROMPT };
  const page = await alices.submit(await alices.open('/tasks/new'), SHOW, typed);
  t.equal(page.status, 200);
  t.ok(page.document.querySelector('#knows')?.hasAttribute('open'));
  const [system, prompt] = readSent(page);
  t.match(system, /the task "Bin price"\.\nIt is Friday, 2026-11-20, 11:00, in the time zone Europe\/Berlin/);
  t.equal(prompt, FILLED);
  t.equal(readValue(page, 'prompt'), PROMPT);
  const tokyo = await alices.submit(page, SHOW, {
    timezone: 'Asia/Tokyo',
    answerAs: 'schema',
    outputSchema: '{"type": "object"}',
  });
  t.match(readSent(tokyo)[0], /19:00, in the time zone Asia\/Tokyo.*JSON/s);
  t.same(readSent(await alices.submit(page, SHOW, { clock: [] })), [FILLED], 'without the clock there is no message');
});

t.test('The form of a stored task shows its last answer as it would be sent', async (t) => {
  server.answer(() => ({ text: 'It costs 59.90 </pre><script>alert(1)</script>' }));
  const id = await postTask(app, alice, { name: 'Bin price', prompt: PROMPT });
  await alices.submit(await alices.open(`/tasks/${id}`), 'Run now');
  await createWorker(ctx).drain();
  const page = await alices.submit(await alices.open(`/tasks/${id}/edit`), SHOW, { previousResult: 'on' });
  t.match(readSent(page)[0], /last succeeded on .*It costs 59\.90 <\/pre><script>/s);
  t.equal(page.document.querySelectorAll('main script').length, 0);
});

t.test('While the form is filled in, a part of it is refreshed, or says why it cannot be', async (t) => {
  const open = await alices.open('/tasks/new');
  open.document.querySelector('#task-form')?.setAttribute('action', '/tasks/new/sent');
  open.document.querySelector('[value=sent]')?.removeAttribute('formaction');
  const part = await alices.submit(open, SHOW, { prompt: PROMPT });
  t.match(part.response.body, FILLED);
  t.notMatch(part.response.body, '<html');
  t.match(
    (await alices.submit(open, SHOW, { prompt: 'short' })).response.body,
    /Prompt must be at least 10 characters\./,
  );
  const elsewhere = await alices.submit(open, SHOW, { prompt: PROMPT, timezone: 'Mars/Olympus' });
  t.match(elsewhere.response.body, /Time zone must be|time zone/);
});

t.test("What a stranger's task would send is not found", async (t) => {
  const id = await postTask(app, alice, { name: 'Secret' });
  const bobs = visit(app, await signUp(app, { name: 'Bob' }));
  const open = await bobs.open('/tasks/new');
  open.document.querySelector('[value=sent]')?.removeAttribute('formaction');
  for (const path of [`/tasks/${id}/sent`, `/tasks/${id}/edit`, '/tasks/x/sent']) {
    open.document.querySelector('#task-form')?.setAttribute('action', path);
    const page = await bobs.submit(open, SHOW, { prompt: PROMPT });
    t.equal(page.status, 404, path);
    t.notMatch(page.response.body, /Secret/);
  }
});

t.test('A prompt is tried as a run would send it', async (t) => {
  server.answer(() => ({ text: 'Nothing.' }));
  const page = await alices.submit(await alices.open('/tasks/new'), 'Try it now', {
    name: 'Bin price',
    prompt: PROMPT,
  });
  t.match(page, { status: 200, text: /Trial answer/ });
  const { messages } = server.requests.at(-1)!.body;
  t.match(messages, [
    { role: 'system', content: /the task "Bin price"/ },
    { role: 'user', content: FILLED },
  ]);
});
