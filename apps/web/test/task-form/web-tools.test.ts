import t from 'tap';
import { testContext } from '../../../api/test/support/context.ts';
import { signUp } from '../../../api/test/support/people.ts';
import { startAiServer } from '../../../api/test/support/servers/ai-server.ts';
import { startAnthropicServer } from '../../../api/test/support/servers/anthropic-server.ts';
import { type ShownPage, visit } from '../support/visitor.ts';
import { createReader, readValue } from './read-form.ts';

const server = await startAiServer();
t.after(() => server.close());
const anthropic = await startAnthropicServer(t);
// Anthropic's API has web tools, the other service has none.
const { app } = await testContext(t, {
  env: { AI_BASE_URL: server.url, ANTHROPIC_API_KEY: 'anthropic-key-1', ANTHROPIC_BASE_URL: anthropic.url },
});
const alice = await signUp(app, { timezone: 'Europe/Berlin' });
const { get, findTask } = createReader(app, alice);
const alices = visit(app, alice);

const WITH_TOOLS = 'anthropic/claude-sonnet-5';
const WITHOUT = 'plain-model';
const PROMPT = 'What does the bin cost today?';

const readTools = ({ document }: ShownPage) =>
  document.querySelectorAll('[name=tools][checked]').map((box) => box.getAttribute('value'));
const readError = ({ document }: ShownPage, field: string) => document.querySelector(`#${field}-error`)?.text.trim();
const isOpen = ({ document }: ShownPage) => document.querySelector('#web')?.hasAttribute('open');

/** The form after the model was chosen. */
async function chooseModel(aiModel: string, values: Record<string, string> = {}) {
  const form = await alices.open('/tasks/new');
  return alices.submit(form, 'Update', { prompt: PROMPT, aiModel, ...values });
}

t.test('Web tools are chosen without a script, and the task shows them', async (t) => {
  const form = await chooseModel(WITH_TOOLS, { name: 'Bin price' });
  t.equal(isOpen(form), false, 'no tool is chosen by itself');
  const tools = { tools: ['web_search', 'web_fetch'], maxToolUses: '3' };
  const page = await alices.submit(form, 'Save task', tools);
  const { id } = await findTask('Bin price');
  t.equal(page.url, `/tasks/${id}`);
  t.match((await get(`/api/tasks/${id}`)).task, { tools: tools.tools, maxToolUses: 3, aiModel: WITH_TOOLS });
  t.match(page.text, /Web tools ?search and pages, up to 3 uses per run/);
  const stored = await alices.open(`/tasks/${id}/edit`);
  t.notOk(isOpen(stored));
  t.match(stored.text, /Web tools ?search and pages, up to 3 uses per run/);
  t.same(readTools(stored), tools.tools);
  t.equal(readValue(stored, 'maxToolUses'), '3');
  const changed = await alices.submit(stored, 'Save task', { tools: ['web_search'] });
  t.match(changed.text, /Web tools ?search, up to 3 uses per run/);
});

t.test('The form says why a model has no web tools, and refuses them at their field', async (t) => {
  const none = await chooseModel(WITHOUT);
  t.match(none.document.querySelector('#web')?.text, `The provider of ${WITHOUT} has no web tools.`);
  t.notOk(none.document.querySelector('[name=tools]'));
  t.match(await alices.submit(none, 'Save task', { name: 'No tools' }), { text: /The task is saved/ });

  const form = await chooseModel(WITH_TOOLS, { name: 'Lost tools' });
  const refused = await alices.submit(form, 'Save task', { aiModel: WITHOUT, tools: ['web_fetch'] });
  t.match(refused, { status: 422, text: /Not saved/ });
  t.match(readError(refused, 'tools'), /^The provider of plain-model has no web tools\..*Remove the tools, or choose/);
  t.ok(refused.document.querySelector('a[href="#tools"]'));
  t.ok(isOpen(refused));
  t.same(readTools(refused), ['web_fetch'], 'what was chosen stays');
  t.equal(await findTask('Lost tools'), undefined);
  t.match(await alices.submit(refused, 'Save task', { tools: [] }), { text: /The task is saved/ });
  t.same((await findTask('Lost tools')).tools, []);
});

t.test('The highest number of uses is checked at its field', async (t) => {
  const form = await chooseModel(WITH_TOOLS, { name: 'Too often' });
  for (const maxToolUses of ['', '0', '21', '2.5', 'often']) {
    const page = await alices.submit(form, 'Save task', { tools: ['web_search'], maxToolUses });
    t.equal(page.status, 422, maxToolUses);
    t.match(readError(page, 'maxToolUses'), /^Maximum uses/, maxToolUses);
  }
  const unknown = await alices.submit(form, 'Save task', { tools: ['shell'] });
  t.equal(unknown.status, 422);
  t.equal(await findTask('Too often'), undefined);
});

t.test('A script gets the tools of the model that is chosen now, with what is ticked', async (t) => {
  const show = async (query: string) => (await alices.open(`/tasks/new/tools?${query}`)).response.body;
  const ticked = 'tools=web_fetch&maxToolUses=7';
  t.match(await show(`aiModel=${WITH_TOOLS}&${ticked}`), /value="web_fetch" checked.*value="7"/s);
  t.match(await show(`aiModel=${WITHOUT}`), /^<p class="hint">The provider of plain-model has no web tools/);
  t.match(await show(`aiModel=${WITHOUT}&${ticked}`), /has no web tools.*value="web_fetch" checked/s);
  t.match(await show('aiModel=%3Cb%3E'), 'The provider of &lt;b&gt; has');
  t.equal((await visit(app).open('/tasks/new/tools?aiModel=x')).heading, 'Sign in');
});

t.test('A prompt is tried with its web tools, and its sources stand below the answer', async (t) => {
  const form = await chooseModel(WITH_TOOLS);
  anthropic.answer({
    body: {
      type: 'message',
      role: 'assistant',
      model: 'claude',
      stop_reason: 'end_turn',
      content: [
        {
          type: 'text',
          text: 'The bin costs 59 €.',
          citations: [
            {
              type: 'web_search_result_location',
              url: 'https://shop.example.com/bin',
              title: 'Bin <b>40 L</b>',
              encrypted_index: 'x',
              cited_text: '59 €',
            },
          ],
        },
      ],
      usage: { input_tokens: 100, output_tokens: 20, server_tool_use: { web_search_requests: 2 } },
    },
  });
  const page = await alices.submit(form, 'Try it now', { tools: ['web_search'], maxToolUses: '2' });
  t.match(page, { status: 200, text: /Trial answer/ });
  t.match(anthropic.requests.at(-1)?.body.tools, [{ name: 'web_search', max_uses: 2 }]);
  const link = page.document.querySelector('#answer-now .sources a');
  t.equal(link?.getAttribute('href'), 'https://shop.example.com/bin');
  t.equal(link?.getAttribute('rel'), 'noopener noreferrer nofollow');
  t.match(page.document.querySelector('#answer-now')?.text, /2 web tool uses/);
  t.same(readTools(page), ['web_search']);
  const refused = await alices.submit(page, 'Try it now', { aiModel: WITHOUT });
  t.match(refused, { status: 422, text: /The prompt was not sent/ });
  t.ok(readError(refused, 'tools'));
});
