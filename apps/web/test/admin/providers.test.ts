import t from 'tap';
import { testContext } from '../../../api/test/support/context.ts';
import { signUp, signUpAda } from '../../../api/test/support/people.ts';
import { startAiServer } from '../../../api/test/support/servers/ai-server.ts';
import { visit } from '../support/visitor.ts';

const { app } = await testContext(t);
const ada = await signUpAda(app);
const admin = visit(app, ada);
const ai = await startAiServer({ apiKey: 'sk-right' });
t.teardown(() => ai.close());

t.test('Without a provider the page offers to add the first one, whose model becomes that of new tasks', async (t) => {
  t.match((await admin.open('/admin/providers')).text, /No AI answers yet/);
  const form = await admin.open('/admin/providers/new');
  t.match(form, { heading: 'Which AI answers?', text: /in the cloud, or on your own machine/ });
  const values = { name: 'cloud', baseUrl: ai.url, apiKey: 'sk-wrong', model: 'gpt-x' };
  const failed = await admin.submit(form, 'Test', values);
  t.match(failed.text, /No answer, after \d+ ms.*refused the API key/);
  t.notMatch(failed.response.body, /sk-wrong/);
  t.equal(failed.document.querySelector('#baseUrl')?.getAttribute('value'), ai.url, 'what was typed stays');
  const tested = await admin.submit(form, 'Test', { ...values, apiKey: 'sk-right' });
  t.match(tested.text, /gpt-x answered after \d+ ms/);
  const added = await admin.submit(form, 'Add provider', { ...values, apiKey: 'sk-right', isDefaultModel: 'on' });
  t.match(
    added.text,
    /The provider cloud is added.*gets every model without a name of another provider.*Stored.*No limit/,
  );
  t.match((await admin.open('/admin/settings')).response.body, /cloud\/gpt-x/);
});

t.test('A provider is changed, tested as it is stored, and deleted', async (t) => {
  const [row] = (await app.inject({ url: '/api/admin/providers', headers: ada.headers })).json().providers;
  const page = await admin.open(`/admin/providers/${row?.id}`);
  const moved = await admin.submit(page, 'Save', { baseUrl: 'https://elsewhere.example/v1' });
  t.match(moved, { status: 422, text: /is required, because baseUrl changes/ });
  t.match(await admin.submit(page, 'Test what is stored', { model: 'gpt-y' }), { text: /gpt-y answered after/ });
  t.match((await admin.submit(page, 'Save', { maxConcurrent: '3', name: 'own' })).text, /The provider own is saved.*3/);
  const refused = await admin.submit(page, 'Save', { maxConcurrent: 'many' });
  t.match(refused, { status: 422 });
  const asked = await admin.open(`/admin/providers/${row?.id}/delete`);
  t.match(asked.text, /Tasks with a model own\/… then ask the default provider/);
  t.match((await admin.submit(asked, 'Delete provider')).text, /The provider is deleted/);
  t.match((await admin.open('/admin/providers')).text, /No AI answers yet/);
});

t.test('A provider of the environment is shown without its key, and only tested', async (t) => {
  const test = await testContext(t, { env: { AI_BASE_URL: ai.url, AI_API_KEY: 'sk-right' } });
  const visitor = visit(test.app, await signUpAda(test.app));
  t.match((await visitor.open('/admin/providers')).text, /default.*set by environment variables/);
  const page = await visitor.open('/admin/providers/default');
  t.match(page.text, /change it there, and restart/);
  t.notMatch(page.response.body, /sk-right/);
  t.match((await visitor.submit(page, 'Test what is stored', { model: 'm' })).text, /m answered after/);
});

t.test('Others see no provider', async (t) => {
  const alice = visit(app, await signUp(app));
  for (const path of ['/admin/providers', '/admin/providers/new', '/admin/providers/default']) {
    t.match((await alice.open(path)).status, /40[34]/, path);
  }
});
