import t from 'tap';
import { createWorker } from '../../../api/src/entry/worker.ts';
import { enqueueDue } from '../../../api/src/product/executions/pipeline/enqueue.ts';
import {
  findAccessibilityFaults,
  type OpenPage,
  openBrowser,
  openPage,
  SKIP_WITHOUT_BROWSER,
} from '../../../api/test/support/browser.ts';
import { testContext } from '../../../api/test/support/context.ts';
import { signUpAlice } from '../../../api/test/support/people.ts';
import { type AiAnswer, startAiServer } from '../../../api/test/support/servers/ai-server.ts';
import { insertTask } from '../../../api/test/support/task-rows.ts';

t.test('Pages of tasks in a browser', { skip: SKIP_WITHOUT_BROWSER }, async (t) => {
  const ai = await startAiServer();
  t.teardown(() => ai.close());
  const { app, ctx } = await testContext(t, { env: { AI_BASE_URL: ai.url, AI_API_KEY: 'a-key-of-the-operator' } });
  const alice = await signUpAlice(app);
  const later = { nextExecutionAt: new Date('2026-11-21T09:00:00Z') };
  const news = await insertTask(ctx, alice.id, { ...later, name: 'News' });
  const weather = await insertTask(ctx, alice.id, { ...later, name: 'Weather' });
  const url = await app.listen({ port: 0, host: '127.0.0.1' });
  const browser = await openBrowser(t);
  const worker = createWorker(ctx);
  t.teardown(() => worker.stop());

  /** Lets the provider answer once the returned function is called. */
  function holdAnswer(): (answer: AiAnswer) => void {
    const { promise, resolve } = Promise.withResolvers<AiAnswer>();
    ai.answer(() => promise);
    return resolve;
  }

  async function open(path: string) {
    const opened = await openPage(browser);
    await opened.page.context().addCookies([{ name: 'local-session', value: alice.token, url }]);
    await opened.page.goto(url + path);
    await isLive(opened.page);
    return opened;
  }

  const isLive = (page: OpenPage['page']) => page.getByText('Live', { exact: true }).waitFor();
  const lastOf = (page: OpenPage['page'], task: number) => page.locator(`tr:has(#pick-${task}) td:nth-of-type(3)`);

  t.test('A run that starts or ends changes the list, which keeps ticks, typed text and the focus', async (t) => {
    const { page, problems } = await open('/tasks');
    await page.locator(`#pick-${weather}`).check();
    await page.getByLabel('Search by name').fill('half a wo');
    await page.locator(`#pick-${news}`).focus();
    const answer = holdAnswer();
    await ctx.db.execute(`update tasks set next_execution_at = scheduled_for where id = ${news}`);
    await enqueueDue(ctx);
    const drained = worker.drain();
    await lastOf(page, news).getByText('Running').waitFor();
    answer({ text: 'Nothing new.' });
    await drained;
    await lastOf(page, news).getByText('Completed').waitFor();
    t.equal(await page.locator(`#pick-${weather}`).isChecked(), true);
    t.equal(await page.locator(`#pick-${news}`).isChecked(), false);
    t.equal(await page.getByLabel('Search by name').inputValue(), 'half a wo');
    t.equal(await page.evaluate('document.activeElement.id'), `pick-${news}`);
    await isLive(page);
    t.same(problems, []);
  });

  t.test('The page of a task shows the answer when it comes, and says when the connection is lost', async (t) => {
    const { page, problems } = await open(`/tasks/${weather}`);
    const answer = holdAnswer();
    await page.getByRole('button', { name: 'Run now' }).focus();
    await page.keyboard.press('Enter');
    await page.getByText('The task is started.').waitFor();
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByText('Pause until…').click();
    const drained = worker.drain();
    await page.locator('#runs').waitFor();
    await page.locator('.outcome.running').first().waitFor();
    const row = `|${'Berlin and around|'.repeat(20)}`;
    answer({ text: `# Rain\n\nTake an umbrella.\n\n${row}\n|${'---|'.repeat(20)}\n${row}` });
    await drained;
    await page.getByText('Take an umbrella.').waitFor();
    t.ok(await page.getByText('The task is started.').isVisible(), 'the notice stays');
    t.ok(await page.getByLabel('Until, UTC time').isVisible(), 'what was open stays open');
    await page.keyboard.press('Escape');
    t.notOk(await page.locator('#more').isVisible());
    t.equal(await page.locator('.answer h3').textContent(), 'Rain');
    await page.setViewportSize({ width: 320, height: 900 });
    t.equal(await page.evaluate('document.documentElement.scrollWidth'), 320, 'a wide table scrolls by itself');
    t.same(await findAccessibilityFaults(page), []);
    t.same(problems, []);
    await page.context().setOffline(true);
    app.server.closeAllConnections();
    await page.getByText('Connection lost, trying again').waitFor();
  });

  t.test('Tasks are chosen, paused and deleted with the keyboard alone', async (t) => {
    const { page, problems } = await open('/tasks?sort=name');
    t.equal(await page.getByRole('button', { name: 'Pause', exact: true }).isVisible(), false, 'nothing is chosen');
    await page.locator(`#pick-${news}`).focus();
    await page.keyboard.press('Space');
    for (
      let presses = 0;
      presses < 30 && (await page.evaluate('document.activeElement.value')) !== 'pause';
      presses += 1
    ) {
      await page.keyboard.press('Shift+Tab');
    }
    await page.keyboard.press('Enter');
    await page.getByText('1 task paused.').waitFor();
    await page.locator(`#pick-${news}`).focus();
    await page.keyboard.press('Space');
    await page.getByRole('button', { name: 'Delete…' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Delete News' }).waitFor();
    await page.getByRole('button', { name: 'Delete task' }).focus();
    await page.keyboard.press('Enter');
    await page.getByText('1 task deleted.').waitFor();
    t.equal(await page.locator('tbody tr').count(), 1);
    t.same(problems, []);
  });
});
