import t from 'tap';
import { testContext } from '../../../api/test/support/context.ts';
import { signUp, signUpAda } from '../../../api/test/support/people.ts';
import { insertTask } from '../../../api/test/support/task-rows.ts';
import { answer, createModel, runAll } from '../support/runs.ts';
import { type ShownPage, visit } from '../support/visitor.ts';

const model = createModel();
const { app, ctx } = await testContext(t, { ai: model.ai });
const alice = await signUp(app, { name: 'Alice' });
const news = await insertTask(ctx, alice.id, { name: 'Morning news', prompt: 'What is new in Antwerp?' });
await runAll(ctx, model, answer('The carillon of the town hall rings again.'));
await insertTask(ctx, alice.id, { name: 'Weather', status: 'paused', nextExecutionAt: null });
const visitor = visit(app, alice);

const linksIn = ({ document }: ShownPage, section: string) =>
  document
    .querySelectorAll(`[aria-labelledby="found-${section}"] a`)
    .map((link) => [link.text, link.getAttribute('href')]);

t.test('Tasks are found by name, runs by their words, and pages by theirs', async (t) => {
  const home = await visitor.open('/');
  const empty = await visitor.follow(home, 'Search');
  t.match(empty, { status: 200, heading: 'Search', text: /Tasks are found by name/ });
  const byName = await visitor.open('/search?q=NEWS');
  t.same(linksIn(byName, 'tasks'), [['Morning news', `/tasks/${news}`]]);
  t.same(linksIn(byName, 'runs'), []);
  const byWord = await visitor.open('/search?q=carillon');
  t.match(linksIn(byWord, 'runs'), [['Morning news', /^\/executions\/\d+$/]]);
  t.match(byWord.text, /1 result ?Runs ?Morning news Completed today at .*The carillon of the town hall/);
  t.same(linksIn(await visitor.open('/search?q=antwerp'), 'runs').length, 1);
  t.match((await visitor.open('/search?q=weath')).text, /Weather Paused/);
  t.same(linksIn(await visitor.open('/search?q=webhook'), 'pages'), [['Webhooks', '/webhooks']]);
  const none = await visitor.open(`/search?q=${encodeURIComponent('<b>"nothing"')}`);
  t.match(none.text, /Nothing found for “<b>"nothing"”\./);
});

t.test('Pages are found without accents, and those of administrators by administrators only', async (t) => {
  t.same(linksIn(await visitor.open('/search?q=audit'), 'pages'), []);
  const ada = await signUpAda(app);
  const admin = visit(app, ada);
  t.same(linksIn(await admin.open('/search?q=audit'), 'pages'), [['Audit log', '/admin/audit']]);
  t.same(linksIn(await admin.open('/search?q=news'), 'tasks'), [], "a stranger's task");
  t.same(linksIn(await admin.open('/search?q=carillon'), 'runs'), []);
  const maria = await signUp(app, { name: 'Maria' });
  await app.inject({
    method: 'PATCH',
    url: '/api/user/settings',
    headers: maria.headers,
    payload: { language: 'pt-BR' },
  });
  t.same(linksIn(await visit(app, maria).open('/search?q=configuracoes'), 'pages'), [['Configurações', '/settings']]);
});

t.test('Queries of any kind are answered', async (t) => {
  for (const q of ['%25', '%27', '%5C', '%22', '((', 'a'.repeat(5000), '%F0%9F%94%94']) {
    t.equal((await visitor.open(`/search?q=${q}`)).status, 200, q.slice(0, 20));
  }
});
