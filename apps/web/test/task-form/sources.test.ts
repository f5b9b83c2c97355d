import { getTexts } from '@carillon/texts';
import t from 'tap';
import { testContext } from '../../../api/test/support/context.ts';
import { signUpAlice } from '../../../api/test/support/people.ts';
import { startProbeServer } from '../../../api/test/support/servers/probe-servers.ts';
import { readTask } from '../../../api/test/support/tasks.ts';
import { visit } from '../support/visitor.ts';

const site = await startProbeServer(t, ({ url }, response) => {
  const isSearch = url?.startsWith('/search');
  response.setHeader('content-type', isSearch ? 'application/json' : 'text/html');
  const results = [{ title: 'Bells <b>', url: 'https://a.example/', content: 'A shop' }];
  response.end(
    isSearch ? JSON.stringify({ results }) : '<title>Shop</title><p id=price>19 EUR</p><p>&lt;script>x&lt;/script>',
  );
});
const base = `http://127.0.0.1:${site.port}`;
const { app } = await testContext(t, { env: { SOURCES_ALLOW: `127.0.0.1/32:${site.port}`, SEARCH_URL: base } });
const alice = await signUpAlice(app);
const { taskForm } = getTexts('en');

t.test('Without scripts, a source is looked at, saved and shown', async (t) => {
  const visitor = visit(app, alice);
  const form = await visitor.open('/tasks/new');
  const values = { prompt: 'What is the price of the bell?', sourceAddress: [`${base}/bell`, 'bells of brass'] };
  const looked = await visitor.submit(form, taskForm.look, { ...values, sourceKind: ['page', 'search'] });
  t.match(looked, { status: 200, heading: 'New task' });
  t.match(looked.text, /19 EUR/);
  t.match(looked.text, /https:\/\/a\.example\//);
  t.notMatch(looked.response.body, '<script>x');
  const saved = await visitor.submit(looked, taskForm.save, { onlyChanged: 'on' });
  t.match(saved, { status: 200, text: 'only if something has changed' });
  const id = Number(/\d+$/.exec(saved.url)?.[0]);
  t.match(await readTask(app, alice, id), {
    sources: [
      { name: 'page', url: `${base}/bell` },
      { name: 'web', search: 'bells of brass' },
    ],
    runIf: 'changed',
  });
  const edit = await visitor.open(`/tasks/${id}/edit`);
  const again = await visitor.submit(edit, taskForm.save, {});
  t.equal(again.status, 200);
  t.match(await readTask(app, alice, id), { runIf: 'changed', sources: [{ name: 'page' }, { name: 'web' }] });
});

t.test('A source that cannot be read says why, and a wrong one is not saved', async (t) => {
  const visitor = visit(app, alice);
  const form = await visitor.open('/tasks/new');
  const prompt = 'What is the price of the bell?';
  const missing = await visitor.submit(form, taskForm.look, {
    prompt,
    sourceAddress: [`${base}/bell`],
    sourceSelect: ['.nothing'],
  });
  t.match(missing.text, 'The source has nothing at its selection.');
  const none = await visitor.submit(form, taskForm.look, { prompt });
  t.match(none.text, taskForm.enterSource);
  const wrong = await visitor.submit(form, taskForm.save, {
    prompt,
    sourceAddress: ['example.com', 'b.example'],
    sourceSelect: ['', 'p['],
  });
  t.equal(wrong.status, 422);
  t.match(wrong.text, /Source 2 select must be a CSS selector/);
  t.match(wrong.document.querySelector('#sourceAddress')?.getAttribute('value'), 'example.com');
});
