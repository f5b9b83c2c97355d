import t from 'tap';
import { openBrowser, openPage, SKIP_WITHOUT_BROWSER } from '../../api/test/support/browser.ts';
import { testContext } from '../../api/test/support/context.ts';
import { signUpAlice } from '../../api/test/support/people.ts';
import { insertEndedRuns, insertTask } from '../../api/test/support/task-rows.ts';

const MAX_SHIFT = 0.02;
/** Of the page until now, without what follows a click. */
const LAYOUT_SHIFT = `new Promise((resolve) => {
  new PerformanceObserver((list) => resolve(list.getEntries().reduce((sum, { value }) => sum + value, 0)))
    .observe({ type: 'layout-shift', buffered: true });
  setTimeout(() => resolve(0), 500);
})`;

t.test('Live pages in a browser', { skip: SKIP_WITHOUT_BROWSER }, async (t) => {
  const { app, ctx, clock } = await testContext(t);
  // Browsers drop cookies that have expired.
  clock.set(new Date());
  const alice = await signUpAlice(app);
  const taskId = await insertTask(ctx, alice.id, { name: 'News' });
  const url = await app.listen({ port: 0, host: '127.0.0.1' });
  const browser = await openBrowser(t);
  const open = async (options: Parameters<typeof openPage>[1] = {}) => {
    const opened = await openPage(browser, options);
    await opened.page.context().addCookies([{ name: 'local-session', value: alice.token, url }]);
    return opened;
  };

  await t.test('Nothing moves when a page becomes live, on a phone either', async (t) => {
    for (const width of [390, 1280]) {
      const { page, problems } = await open({ viewport: { width, height: 844 } });
      for (const path of ['/', '/executions', '/tasks', `/tasks/${taskId}`]) {
        await page.goto(url + path);
        await page.getByText('Live', { exact: true }).waitFor();
        const shift = (await page.evaluate(LAYOUT_SHIFT)) as number;
        t.ok(shift <= MAX_SHIFT, `${path} at ${width}: ${shift}`);
      }
      t.same(problems, []);
    }
  });

  await t.test('A page that is not live shows no sign of it', async (t) => {
    const { page } = await open({ javaScriptEnabled: false });
    await page.goto(`${url}/tasks`);
    t.equal(await page.locator('.live').isVisible(), false);
  });

  await t.test('The count and the icon follow what ends', async (t) => {
    const { page, problems } = await open();
    await page.goto(`${url}/executions`);
    await page.getByText('Live', { exact: true }).waitFor();
    const icon = () => page.locator('#icon').getAttribute('href');
    const before = await icon();
    await insertEndedRuns(ctx, { taskId, userId: alice.id, count: 3 });
    await app.inject({
      method: 'PATCH',
      url: `/api/tasks/${taskId}`,
      headers: alice.headers,
      payload: { name: 'Now' },
    });
    await page.locator('#unseen-runs').getByText('3').waitFor();
    t.equal(await page.title(), '(3) Runs · Carillon');
    t.not(await icon(), before);
    t.same(problems, []);
  });

  await t.test('Signed out in another tab, the page gives way to the sign-in', async (t) => {
    const { page } = await open();
    await page.goto(`${url}/executions`);
    await page.getByText('Live', { exact: true }).waitFor();
    const other = await page.context().newPage();
    await other.goto(`${url}/`);
    await other.getByRole('button', { name: 'Sign out' }).click();
    await other.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
    await page.getByText('You are signed out. Sign in to continue.').waitFor();
    t.equal(new URL(page.url()).pathname, '/sign-in');
    t.equal(await page.getByRole('table').count(), 0);
  });
});
