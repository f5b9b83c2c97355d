import t from 'tap';
import { buildModelAnswer, testAgent } from '../../../api/test/support/agent.ts';
import { insertUsage } from '../../../api/test/support/task-rows.ts';
import { visit } from '../support/visitor.ts';

const { app, ctx, ai, alice } = await testAgent(t);
const HOSTILE = '"><script>alert(1)</script>{{7*7}}';

const open = async () => {
  const visitor = visit(app, alice());
  return { visitor, page: await visitor.open('/agent') };
};

t.test('A message is answered without a script, and what can come next stands below', async (t) => {
  ai.answer(buildModelAnswer('## Titan\n\nIt is *large*.', ['Why?', 'How far?']));
  const { visitor, page } = await open();
  t.match(page, { status: 200, heading: 'Agent', text: /Carillon does not keep messages or answers/ });
  const answered = await visitor.submit(page, 'Send', { message: 'Name a\nmoon & more.' });
  t.match(answered, { status: 200, heading: 'Agent', url: '/agent' });
  t.equal(answered.document.querySelector('.asked')?.text, 'Name a\nmoon & more.');
  t.equal(answered.document.querySelector('.answer h3')?.text, 'Titan');
  t.match(answered.text, /\d+ tokens in, \d+ out · \d+ m?s/);
  const link = answered.document.querySelector('.turn a.button')?.getAttribute('href');
  t.equal(link?.replaceAll('&amp;', '&'), '/tasks/new?name=Name+a&prompt=Name+a%0Amoon+%26+more.');
  t.equal(answered.document.querySelector('#ask textarea')?.text.trim(), '');
  const drafted = await visitor.submit(answered, 'How far?');
  t.match(drafted, { status: 200, text: /It is large/ });
  t.equal(drafted.document.querySelector('#ask textarea')?.text.trim(), 'How far?');
  t.equal(ai.requests.length, 1, 'a suggestion is not sent by itself');
});

t.test('A message that is refused stays in the box, with the reason', async (t) => {
  const { visitor, page } = await open();
  const message = 'Name a moon.';
  const kept = (shown: typeof page) => shown.document.querySelector('#ask textarea')?.text.trim();
  const empty = await visitor.submit(page, 'Send', { message: '  ' });
  t.match(empty, { status: 422 });
  t.ok(empty.document.querySelector('#message-error'));
  t.equal(empty.document.querySelector('textarea')?.getAttribute('aria-describedby'), 'message-hint message-error');

  ai.answer(() => ({ status: 429 }));
  const failed = await visitor.submit(page, 'Send', { message });
  t.match(failed, { status: 503, text: /The provider limits how often it may be asked/ });
  t.equal(kept(failed), message);

  await insertUsage(ctx, alice().id, { executions: 1000, tokens: 100 });
  const refused = await visitor.submit(page, 'Send', { message });
  t.match(refused, { status: 402, text: /All \d+ runs are used/ });
  t.equal(kept(refused), message);
});

t.test('Text of the person and of the model stays text, also in what a form sends back', async (t) => {
  const text = `${HOSTILE} [a](javascript:alert(1)) ![b](https://evil.example/x) ${'x'.repeat(2000)}`;
  ai.answer(buildModelAnswer(text, [HOSTILE]));
  const { visitor, page } = await open();
  const answered = await visitor.submit(page, 'Send', { message: text });
  const drafted = await visitor.submit(answered, HOSTILE);
  for (const { document, response } of [answered, drafted]) {
    t.equal(document.querySelectorAll('main script, main img').length, 0);
    t.notMatch(response.body, /<script>alert|href="javascript:/);
    t.match(document.querySelector('.answer')?.text, HOSTILE);
  }
});

t.test('An answer without a script may propose a task, which is saved when the person says so', async (t) => {
  const draft = { name: 'Moons', prompt: 'Name a moon of Saturn.', recurrencePattern: '0 17 * * 5' };
  ai.answer(buildModelAnswer('I propose **a task**.', [JSON.stringify({ proposedTask: draft }), 'Why?']));
  const { visitor, page } = await open();
  const answered = await visitor.submit(page, 'Send', { message: 'Name a moon every Friday at five.' });
  t.match(answered, { status: 200, text: /I propose a task\..*Proposed task ?Moons ?Fridays at 17:00/ });
  t.notMatch(answered.text, /Create a task|proposedTask/);
  t.match((await visitor.open('/tasks')).text, /Create your first task/, 'nothing is saved by the answer');
  const saved = await visitor.submit(answered, 'Save task');
  t.match(saved, { status: 200, heading: 'Moons', text: /The task is saved\./ });
  t.equal(ai.requests.length, 1);
});

t.test('A message becomes a task, however long it is', async (t) => {
  const { visitor, page } = await open();
  const short = await visitor.submit(page, 'Send', { message: 'Name a moon.' });
  const form = await visitor.open(short.document.querySelector('.turn a.button')!.getAttribute('href')!);
  t.match(form, { status: 200, heading: 'New task' });
  t.match(form.document.querySelector('textarea[name=prompt]')?.text, /Name a moon\./);
  const message = `Name a moon. ${'Again. '.repeat(1000)}`;
  const long = await visitor.submit(page, 'Send', { message });
  const proposed = await visitor.submit(long, 'Create a task');
  t.match(proposed, { status: 200, heading: 'New task' });
  t.equal(proposed.document.querySelector('textarea[name=prompt]')?.text.trim(), message.trim());
});

t.test('A script gets the answer as it arrives, then as the page shows it, or why there is none', async (t) => {
  ai.answer(buildModelAnswer('**Titan** and a few others.', ['Why?']));
  const { visitor, page } = await open();
  const { response, text, done } = await visitor.stream(page, 'Send', { message: 'Name a moon.' });
  t.match(response.headers, { 'content-type': /^text\/event-stream/, 'cache-control': /no-store/ });
  t.equal(text.trim(), '**Titan** and a few others.');
  t.match(done, { isRefused: false, html: /^<article class="turn gap".*<strong>Titan<\/strong>.*>Why\?<\/button>/s });
  ai.answer(() => ({ status: 429 }));
  const refused = await visitor.stream(page, 'Send', { message: 'Name a moon.' });
  t.match(refused.done, { isRefused: true, html: /The provider limits how often it may be asked/ });
  visitor.cookies.delete('csrf');
  t.equal((await visitor.stream(page, 'Send', { message: 'Name a moon.' })).response.statusCode, 403);
  visitor.cookies.clear();
  t.match((await visitor.stream(page, 'Send')).response, { statusCode: 403 }, 'without the session');
  t.equal(ai.requests.length, 2);
});

t.test('What a form sends back of an answer is bounded', async (t) => {
  const { visitor, page } = await open();
  const answered = await visitor.submit(page, 'Send', { message: 'Name a moon.' });
  const long = { content: 'x'.repeat(200_000), output: '-5', ms: 'x' };
  const drafted = await visitor.submit(answered, 'Why?', long);
  t.ok(drafted.response.body.length < 80_000);
  t.match(drafted.text, /0 out · 0 ms/);
});
