import t from 'tap';
import { createWorker } from '../../../api/src/entry/worker.ts';
import { type OpenPage, openBrowser, openPage, SKIP_WITHOUT_BROWSER } from '../../../api/test/support/browser.ts';
import { testContext } from '../../../api/test/support/context.ts';
import { PASSWORD, signUpAlice } from '../../../api/test/support/people.ts';
import { type AiAnswer, startAiServer } from '../../../api/test/support/servers/ai-server.ts';
import { insertQueuedRuns } from '../../../api/test/support/task-rows.ts';

type BrowserPage = OpenPage['page'];

t.test('In a browser, with the keyboard alone', { skip: SKIP_WITHOUT_BROWSER }, async (t) => {
  const ai = await startAiServer();
  t.teardown(() => ai.close());
  const { app, ctx, clock } = await testContext(t, {
    env: { AI_BASE_URL: ai.url, AI_API_KEY: 'a-key-of-the-operator' },
  });
  // Browsers drop cookies that have expired.
  clock.set(new Date());
  await signUpAlice(app);
  const [listening, browser] = await Promise.all([app.listen({ port: 0, host: '127.0.0.1' }), openBrowser(t)]);
  const url = listening.replace('127.0.0.1', 'localhost');
  const worker = createWorker(ctx);
  t.teardown(() => worker.stop());
  const { page, problems } = await openPage(browser);
  let task = 0;

  /** Presses Tab until the focus is on an element with this id, text or heading. */
  async function focus(page: BrowserPage, wanted: string): Promise<void> {
    for (let presses = 0; presses < 60; presses += 1) {
      await page.keyboard.press('Tab');
      const isThere = await page.evaluate(
        `[document.activeElement.id, document.activeElement.textContent.trim(), document.activeElement.querySelector('b')?.textContent].includes(${JSON.stringify(wanted)})`,
      );
      if (isThere) return;
    }
    throw new Error(`Tab does not lead to ${wanted}.`);
  }
  const press = async (page: BrowserPage, wanted: string) => {
    await focus(page, wanted);
    await page.keyboard.press('Enter');
  };
  const isLive = (page: BrowserPage) => page.getByText('Live', { exact: true }).waitFor();
  const heading = (page: BrowserPage, name: string | RegExp) => page.getByRole('heading', { level: 1, name }).waitFor();
  const mark = (page: BrowserPage) => page.evaluate('window.isSameDocument = true');
  const isMarked = (page: BrowserPage) => page.evaluate('window.isSameDocument');
  const activeText = (page: BrowserPage) => page.evaluate('document.activeElement.textContent.trim()');

  await t.test('A person signs in, saves a task and reads its answer as it comes', async (t) => {
    await page.goto(`${url}/tasks`);
    await focus(page, 'email');
    await page.keyboard.type('alice@example.com');
    await focus(page, 'password');
    await page.keyboard.type(PASSWORD);
    await page.keyboard.press('Enter');
    await heading(page, 'Tasks');
    await press(page, 'Home');
    await heading(page, 'Home');
    await focus(page, 'prompt');
    await page.keyboard.type('What is new in our field?');
    await press(page, 'Save and try it now');
    await heading(page, /^Run of/);
    await isLive(page);
    await mark(page);
    const { promise, resolve: answer } = Promise.withResolvers<AiAnswer>();
    ai.answer(() => promise);
    const drained = worker.drain();
    await page.locator('.outcome.running').first().waitFor();
    await focus(page, 'Edit task');
    answer({ text: 'Nothing **new**.' });
    await drained;
    await page.locator('.answer strong').getByText('new').waitFor();
    t.equal(await isMarked(page), true, 'without a reload');
    t.equal(await activeText(page), 'Edit task', 'the focus stays');
    await page.keyboard.press('Enter');
    await heading(page, /^Edit/);
    await press(page, 'Name and description');
    await focus(page, 'name');
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.type('News');
    await page.keyboard.press('Enter');
    await heading(page, 'News');
    task = Number(page.url().split('/').at(-1));
    t.same(problems, []);
  });

  await t.test('The second of two tabs sees both versions of a task', async (t) => {
    await press(page, 'Edit');
    await heading(page, 'Edit News');
    const other = await page.context().newPage();
    await other.goto(page.url());
    for (const [tab, name] of [
      [page, 'News of the first tab'],
      [other, 'News of the second tab'],
    ] as const) {
      await tab.bringToFront();
      await press(tab, 'Name and description');
      await focus(tab, 'name');
      await tab.keyboard.press('ControlOrMeta+a');
      await tab.keyboard.type(name);
      await tab.keyboard.press('Enter');
      await (tab === page ? heading(tab, name) : tab.locator('.versions').waitFor());
    }
    t.same(await other.locator('.versions tbody tr').allInnerTexts(), [
      'Name\tNews of the second tab\tNews of the first tab',
    ]);
    await press(other, 'Save my version');
    await heading(other, 'News of the second tab');
    await other.close();
  });

  await t.test('A list that has lost its connection says so, and catches up once it is back', async (t) => {
    await page.bringToFront();
    await page.goto(`${url}/tasks`);
    await isLive(page);
    await mark(page);
    await page.context().setOffline(true);
    app.server.closeAllConnections();
    await page.getByText('Connection lost, trying again').waitFor();
    ai.answer(() => ({ status: 401, body: { error: { message: 'Incorrect key.', code: 'invalid_api_key' } } }));
    await insertQueuedRuns(ctx, [task]);
    await worker.drain();
    await page.context().setOffline(false);
    await page.locator('tbody .outcome').getByText('Failed').waitFor();
    await isLive(page);
    t.equal(await isMarked(page), true, 'without a reload');
  });

  await t.test('The back button shows nothing after the sign-out, also in a browser that keeps pages', async (t) => {
    const { page } = await openPage(await openBrowser(t, { keepsPages: true }));
    await page.goto(`${url}/settings`);
    await focus(page, 'email');
    await page.keyboard.type('alice@example.com');
    await focus(page, 'password');
    await page.keyboard.type(PASSWORD);
    await page.keyboard.press('Enter');
    await heading(page, 'Settings');
    await mark(page);
    await page.goto(`${url}/files`);
    await page.goBack({ waitUntil: 'commit' });
    await heading(page, 'Settings');
    t.equal(await isMarked(page), true, 'the page is kept');
    await press(page, 'Sign out');
    await heading(page, 'Sign in');
    await page.goBack({ waitUntil: 'commit' });
    await page.waitForURL(/sign-in/);
    await heading(page, 'Sign in');
    t.notMatch(await page.locator('body').textContent(), /Settings|Alice/);
  });
});
