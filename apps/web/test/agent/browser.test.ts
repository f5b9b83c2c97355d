import t, { type Test } from 'tap';
import { createWorker } from '../../../api/src/entry/worker.ts';
import { buildModelAnswer, testAgent } from '../../../api/test/support/agent.ts';
import {
  findAccessibilityFaults,
  openBrowser,
  openPage,
  SKIP_WITHOUT_BROWSER,
} from '../../../api/test/support/browser.ts';
import { insertQueuedRuns, insertTask } from '../../../api/test/support/task-rows.ts';
import { images } from '../../../api/test/support/uploads.ts';

/** Models named `anthropic/…` have web tools; their service is not asked for anything. */
const ANTHROPIC = { ANTHROPIC_API_KEY: 'a-key', ANTHROPIC_BASE_URL: 'http://127.0.0.1:9' };
const { app, ctx, ai, alice } = await testAgent(t, { STORAGE_DRIVER: 'disk', ...ANTHROPIC });
const PROPOSED = {
  name: 'Price of the ferry',
  prompt: 'Find the price of the ferry from Kiel to Oslo next weekend.',
  recurrencePattern: '0 17 * * 5',
};

t.test('In a browser', { skip: SKIP_WITHOUT_BROWSER }, async (t) => {
  const url = await app.listen({ port: 0, host: '127.0.0.1' });
  const browser = await openBrowser(t);

  /** Opens a page of Alice; `check` looks for faults, also of the policy. */
  async function open(path: string, colorScheme: 'light' | 'dark' = 'light') {
    const { page, problems } = await openPage(browser, { colorScheme, viewport: { width: 320, height: 900 } });
    await page.context().addCookies([{ name: 'local-session', value: alice().token, url }]);
    await page.goto(url + path);
    const check = async (t: Test) => {
      t.same(await findAccessibilityFaults(page), []);
      t.equal(await page.evaluate('document.documentElement.scrollWidth'), 320);
      t.same(problems, []);
    };
    return { page, check };
  }

  await t.test('An answer appears as it is written, and the keyboard alone continues with it', async (t) => {
    ai.answer(buildModelAnswer('## Titan\n\nIt is *large*.', ['Why?', 'How far?']));
    const { page, check } = await open('/agent');
    await page.keyboard.press('Tab');
    await page.getByLabel('Message', { exact: true }).focus();
    await page.keyboard.type('Name a moon.');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    const suggestion = page.getByRole('button', { name: 'How far?' });
    await suggestion.waitFor();
    t.equal(await page.locator('.answer em').textContent(), 'large', 'the answer of the server replaces the text');
    t.equal(await page.getByLabel('Message', { exact: true }).inputValue(), '');
    await suggestion.press('Enter');
    t.equal(await page.getByLabel('Message', { exact: true }).inputValue(), 'How far?');
    t.equal(await page.evaluate('document.activeElement.name'), 'message');
    t.equal(new URL(page.url()).pathname, '/agent');
    await check(t);
  });

  await t.test('A task that is proposed is refused, changed and saved with the keyboard alone', async (t) => {
    const draft = JSON.stringify({ proposedTask: PROPOSED });
    ai.answer(buildModelAnswer('I propose **a task**.', [draft, 'On Mondays too?']));
    const { page, check } = await open('/agent', 'dark');
    const press = (role: 'button' | 'link', name: string) => page.getByRole(role, { name }).press('Enter');
    const ask = async () => {
      await page.getByLabel('Message', { exact: true }).fill('What does the ferry cost each Friday at five?');
      await press('button', 'Send');
      await page.getByRole('button', { name: 'Save task' }).waitFor();
    };
    await ask();
    await check(t);
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.emulateMedia({ colorScheme: 'light' });
    t.same(await findAccessibilityFaults(page), []);
    await press('button', 'Not now');
    t.equal(await page.locator('.proposal').count(), 0);
    t.equal(await page.evaluate('document.activeElement.name'), 'message');
    await ask();
    await press('link', 'Edit first');
    await page.getByText('The agent proposes this task.').waitFor();
    t.equal(await page.getByLabel('Name', { exact: true }).inputValue(), PROPOSED.name);
    await page.goto(`${url}/agent`);
    await ask();
    await press('button', 'Save task');
    await page.getByText('The task is saved.').waitFor();
    t.equal(await page.locator('h1').textContent(), PROPOSED.name);
  });

  await t.test('The web tools of the form follow the model that is chosen, and keep what is ticked', async (t) => {
    const { page, check } = await open('/tasks/new');
    const choose = async (model: string) => {
      await page.locator('#aiModel').fill(model);
      await page.keyboard.press('Tab');
    };
    await page.locator('#model > summary').press('Enter');
    await page.locator('#web > summary').press('Enter');
    await page.locator('#web').getByText('has no web tools').waitFor();
    await choose('anthropic/claude');
    await page.getByLabel('Read web pages').check();
    await page.getByLabel('Maximum searches and pages per run').fill('7');
    await choose('another-model');
    await page.locator('#web').getByText('The provider of another-model has no web tools').waitFor();
    t.ok(await page.getByLabel('Read web pages').isChecked(), 'so that it can be unticked');
    await choose('anthropic/claude');
    await page.locator('#web').getByText('has no web tools').waitFor({ state: 'detached' });
    t.equal(await page.getByLabel('Maximum searches and pages per run').inputValue(), '7');
    await check(t);
  });

  await t.test('An answer that is stopped stays as far as it came, and the message stays in the box', async (t) => {
    ai.answer(() => ({ pieces: ['One ', 'two ', 'three.'], cut: { after: 2, by: 'stall' } }));
    const { page, check } = await open('/agent', 'dark');
    await page.getByLabel('Message', { exact: true }).fill('<b>Count</b>');
    await page.getByRole('button', { name: 'Send' }).press('Enter');
    await page.getByText('One two').waitFor();
    t.equal(await page.locator('.asked').textContent(), '<b>Count</b>');
    await page.keyboard.press('Enter');
    await page.getByText('Stopped.').waitFor();
    await ai.requests[0]?.hungUp;
    t.equal(await page.getByLabel('Message', { exact: true }).inputValue(), '<b>Count</b>');
    t.equal(await page.evaluate('document.activeElement.name'), 'message', 'focus does not get lost');
    await check(t);
  });

  await t.test('A provider that refuses is said beside the message', async (t) => {
    ai.answer(() => ({ status: 401 }));
    const { page } = await open('/agent');
    await page.getByLabel('Message', { exact: true }).fill('Name a moon.');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByRole('alert').getByText('The provider refused the API key').waitFor();
    t.equal(await page.getByLabel('Message', { exact: true }).inputValue(), 'Name a moon.');
    t.equal(await page.locator('.turn').count(), 0);
  });

  await t.test('A run that starts and ends changes the list and its page without a reload', async (t) => {
    ai.answer(() => ({ text: 'Quiet.' }));
    const [list, half] = await Promise.all([open('/executions'), open('/executions')]);
    await half.page.getByText('More filters').click();
    await half.page.getByLabel('From').fill('2026-11-01');
    await Promise.all([list.page, half.page].map((page) => page.getByText('Live', { exact: true }).waitFor()));
    const task = await insertTask(ctx, alice().id, { name: 'Morning news' });
    await insertQueuedRuns(ctx, [task]);
    await createWorker(ctx).drain();
    await Promise.all([list.page, half.page].map((page) => page.getByText('Quiet.').waitFor()));
    t.equal(await half.page.getByLabel('From').inputValue(), '2026-11-01', 'a filter that is half typed stays');
    await list.check(t);
  });

  await t.test('Several files are added, and one is deleted, with the keyboard alone', async (t) => {
    const { page, check } = await open('/files');
    const png = { name: 'plan.png', mimeType: 'image/png', buffer: images.png(2, 2) };
    const text = { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('Hello') };
    await page.getByLabel('Files', { exact: true }).setInputFiles([png, text]);
    await page.getByRole('button', { name: 'Add files' }).press('Enter');
    await page.getByText('2 files are stored.').waitFor();
    await check(t);
    await page.getByRole('link', { name: 'Delete… notes.txt' }).press('Enter');
    await page.getByRole('button', { name: 'Delete file' }).press('Enter');
    await page.getByText('notes.txt is deleted.').waitFor();
  });
});
