import t from 'tap';
import {
  findAccessibilityFaults,
  type OpenPage,
  openBrowser,
  openPage,
  SKIP_WITHOUT_BROWSER,
} from '../../../api/test/support/browser.ts';
import { testContext } from '../../../api/test/support/context.ts';
import { signUp } from '../../../api/test/support/people.ts';
import { startAiServer } from '../../../api/test/support/servers/ai-server.ts';
import { until } from '../../../api/test/support/until.ts';
import { createReader } from './read-form.ts';

t.test('The form of a task in a browser', { skip: SKIP_WITHOUT_BROWSER }, async (t) => {
  const ai = await startAiServer();
  t.teardown(() => ai.close());
  const { app } = await testContext(t, { env: { AI_BASE_URL: ai.url } });
  const alice = await signUp(app, { timezone: 'Europe/Berlin' });
  const { findTask } = createReader(app, alice);
  const [address, browser] = await Promise.all([app.listen({ host: '127.0.0.1', port: 0 }), openBrowser(t)]);

  async function open(path: string, options: Parameters<typeof openPage>[1] = {}) {
    const opened = await openPage(browser, options);
    await opened.page.context().addCookies([{ name: 'local-session', value: alice.token, url: address }]);
    await opened.page.goto(address + path);
    return opened;
  }
  const hasText = (page: OpenPage['page'], selector: string, text: string) =>
    page.locator(selector).getByText(text).waitFor();

  t.test('A refused form has no faults of accessibility, and no form scrolls sideways at 320 px', async (t) => {
    await Promise.all(
      (['light', 'dark'] as const).map(async (colorScheme) => {
        const { page, problems } = await open('/tasks/new', { colorScheme, viewport: { width: 320, height: 800 } });
        await page.evaluate("for (const group of document.querySelectorAll('details')) group.open = true");
        await page.check('[name=alerts][value=own]');
        await page.check('[name=answerAs][value=fields]', { force: true });
        for (const every of ['hour', 'month', 'once', 'year', 'week']) {
          await page.selectOption('#every', every);
          const width = Number(await page.evaluate('document.documentElement.scrollWidth'));
          t.ok(width <= 320, `${every}: ${width} px`);
        }
        t.same(problems, []);
        await page.fill('#prompt', 'short');
        await page.evaluate("document.querySelector('#task-form').noValidate = true");
        await page.click('.primary');
        await page.locator('[role=alert]').waitFor();
        t.same(await findAccessibilityFaults(page), [], `${colorScheme}, refused`);
      }),
    );
  });

  t.test('The next runs and the pattern follow while somebody types', async (t) => {
    const { page, problems } = await open('/tasks/new');
    await page.selectOption('#every', 'week');
    await page.fill('#at', '02:30');
    await hasText(page, '#said', 'Weekdays at 02:30, Europe/Berlin time.');
    await hasText(page, '#runs', 'Mon 23 Nov');
    await page.getByText('Cron', { exact: true }).click();
    t.equal(await page.inputValue('#cron'), '30 2 * * 1-5');
    await page.fill('#cron', '15 6 1 * *');
    await hasText(page, '#said', '1st of every month at 06:15, Europe/Berlin time.');
    await until(() => page.evaluate<boolean>("document.querySelector('#every').value === 'month'"));
    await page.getByText('Words', { exact: true }).click();
    t.equal(await page.inputValue('#at'), '06:15');
    t.same(problems, []);
  });

  t.test('What will be sent, and the runs within limits, follow while somebody types', async (t) => {
    const { page, problems } = await open('/tasks/new');
    await page.locator('#naming > summary').click();
    await page.fill('#name', 'Bin price');
    await page.fill('#prompt', 'What does the bin cost on {{weekday}}?');
    await page.locator('#knows > summary').click();
    await hasText(page, '#sent', 'What does the bin cost on Friday?');
    await page.uncheck('#clock');
    await until(() =>
      page.evaluate<boolean>("!document.querySelector('#sent').textContent.includes('System message')"),
    );
    await page.getByText('Limits', { exact: true }).click();
    await page.fill('#maxRuns', '2');
    await hasText(page, '#runs', 'This is the last of 2 planned runs.');
    t.equal(await page.locator('#runs li').count(), 2);
    t.same(problems, []);
  });

  t.test('A task is saved by the keyboard alone, with a file that is uploaded at once', async (t) => {
    const { page, problems } = await open('/tasks/new');
    await page.locator('#attachments > summary').click();
    await page.setInputFiles('#files', { name: 'list.csv', mimeType: 'text/csv', buffer: Buffer.from('a,b\n') });
    await hasText(page, '.files', 'list.csv');
    await page.focus('.skip');
    await page.keyboard.press('Enter');
    const press = async (key: string, until: string) => {
      for (let count = 0; count < 40; count += 1) {
        await page.keyboard.press(key);
        if (await page.evaluate(`document.activeElement.matches('${until}')`)) return;
      }
      throw new Error(`${key} does not lead to ${until}.`);
    };
    await press('Tab', '#prompt');
    await page.keyboard.type('What is new in this file, by keyboard?');
    await press('Tab', 'input[name=mode]');
    await page.keyboard.press('ArrowRight');
    await press('Tab', '#cron');
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.type('0 9 * * 5');
    await Promise.all([page.waitForURL(/\/tasks\/\d+$/), page.keyboard.press('Enter')]);
    t.match(await findTask('by keyboard'), { recurrencePattern: '0 9 * * 5', attachments: { length: 1 } });
    t.same(
      problems.filter((problem) => !problem.includes('404')),
      [],
    );
  });

  t.test('A form that is saved while a file is uploaded waits for it', async (t) => {
    const { page } = await open('/tasks/new');
    const { promise: saved, resolve } = Promise.withResolvers<void>();
    await page.route('**/api/upload', (route) => saved.then(() => route.continue()));
    await page.locator('#naming > summary').click();
    await page.fill('#name', 'Saved early');
    await page.locator('#attachments > summary').click();
    await page.fill('#prompt', 'What is new in this file?');
    await page.setInputFiles('#files', { name: 'list.csv', mimeType: 'text/csv', buffer: Buffer.from('a,b\n') });
    await page.click('.primary');
    await hasText(page, '[data-attach]', 'Saving when the upload is complete …');
    await Promise.all([page.waitForURL(/\/tasks\/\d+$/), resolve()]);
    t.match(await findTask('Saved early'), { attachments: { length: 1 } });
  });

  t.test('A draft is there after the server was away, and is dropped on the next visit', async (t) => {
    const { page } = await open('/tasks/new');
    await page.fill('#prompt', 'What is new in my draft?');
    await page.selectOption('#every', 'week');
    await page.locator('#limits > summary').click();
    await page.fill('#maxRuns', '7');
    await page.context().setOffline(true);
    await page.click('.primary').catch(() => null);
    await page.context().setOffline(false);
    await page.goBack().catch(() => null);
    await page.goto(`${address}/tasks/new?draft`);
    await hasText(page, '.notice', 'Your draft is restored.');
    const values = async () => Promise.all(['#prompt', '#every', '#maxRuns'].map((field) => page.inputValue(field)));
    t.same(await values(), ['What is new in my draft?', 'week', '7']);
    await hasText(page, '#said', 'Weekdays at 08:00');
    // On a slow machine the page is loaded before htmx starts.
    await page.addInitScript('const begin = setTimeout; setTimeout = (work, ms = 500) => begin(work, ms)');
    await page.reload();
    t.same(await values(), ['What is new in my draft?', 'week', '7'], 'a reload keeps it');
    await hasText(page, '#said', 'Weekdays at 08:00');
    t.same(await findAccessibilityFaults(page), []);
    await page.goto(`${address}/tasks`);
    await page.goto(`${address}/tasks/new`);
    t.same(await values(), ['', 'day', ''], 'another visit begins anew');
  });

  t.test('The preview says when the server is away', async (t) => {
    const { page } = await open('/tasks/new');
    await page.context().setOffline(true);
    await page.selectOption('#every', 'week');
    await hasText(page, '#runs', 'The server cannot be reached, so the next runs are not up to date.');
    t.equal(await page.locator('#runs li').count(), 0, 'no old runs are shown');
    await page.context().setOffline(false);
    await page.selectOption('#every', 'month');
    await hasText(page, '#runs', 'Tue 1 Dec');
    t.equal(await page.locator('#runs .error').count(), 0);
  });

  t.test('A trial shows its answer as it arrives, is paid once, and its answer gets the focus', async (t) => {
    const { page, problems } = await open('/tasks/new');
    const prompt = 'What is new in our field?';
    const asked = ai.requests.length;
    ai.answer(() => ({ pieces: ['It is ', '**quiet** ', 'today.'], drip: { bytes: 60, everyMs: 150 } }));
    await page.fill('#prompt', prompt);
    const button = page.getByRole('button', { name: 'Try it now' });
    await button.press('Enter');
    await hasText(page, '#outcome [aria-busy]', 'It is');
    t.match(await page.textContent('#outcome'), /Running …/);
    t.equal(await page.evaluate("document.activeElement.getAttribute('aria-labelledby')"), 'tried');
    t.same(await findAccessibilityFaults(page), []);
    t.equal(await button.getAttribute('aria-disabled'), 'true');
    await button.click({ force: true });
    await page.reload();
    t.equal(await page.inputValue('#prompt'), prompt);
    await button.click();
    await page.locator('#answer-now strong').waitFor();
    t.equal(await page.evaluate('document.activeElement.id'), 'answer-now');
    t.equal(await page.inputValue('#prompt'), prompt);
    t.equal(await page.locator('[aria-disabled="true"]').count(), 0);
    t.equal(ai.requests.length, asked + 1, 'paid once');
    t.same(await findAccessibilityFaults(page), []);
    ai.answer(() => ({ text: 'Another answer.' }));
    await button.click();
    await hasText(page, '#answer-now', 'Another answer.');
    await page.fill('#prompt', 'short');
    await button.click();
    await hasText(page, '[role=alert]', 'at least 10 characters');
    t.equal(await page.evaluate("document.activeElement.getAttribute('role')"), 'alert');
    t.same(problems, []);
  });

  t.test('A trial whose session or connection has ended says so', async () => {
    const { page } = await open('/tasks/new');
    await page.fill('#prompt', 'What is lost in our field?');
    await page.context().setOffline(true);
    await page.getByRole('button', { name: 'Try it now' }).click();
    await hasText(page, '#outcome', 'The answer did not arrive.');
    await page.context().setOffline(false);
    await page.context().clearCookies();
    await page.getByRole('button', { name: 'Try it now' }).click();
    await page.getByRole('link', { name: 'Sign in' }).waitFor();
  });

  t.test('The page of a task shows a trial while it arrives, and keeps it when it refreshes', async (t) => {
    ai.answer(() => ({ text: 'A **ship**.' }));
    const { page, problems } = await open('/tasks/new');
    await page.fill('#prompt', 'What is new in the harbour?');
    await Promise.all([page.waitForURL(/\/tasks\/\d+$/), page.click('#task-form .do .primary')]);
    await page.getByText('Live', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'More' }).press('Enter');
    await page.getByRole('button', { name: 'Try it now' }).press('Enter');
    await page.locator('#answer-now strong').waitFor();
    await Promise.all([
      page.waitForResponse((response) => response.url() === page.url()),
      page.evaluate("document.body.dispatchEvent(new CustomEvent('carillon:changed'))"),
    ]);
    await hasText(page, '#answer-now', 'A ship.');
    t.same(await findAccessibilityFaults(page), []);
    t.same(problems, []);
  });

  t.test('The focus is on the list of errors after a refusal', async (t) => {
    const { page } = await open('/tasks/new');
    await page.fill('#prompt', 'short');
    await page.click('.primary');
    await page.locator('[role=alert]').waitFor();
    t.equal(await page.evaluate("document.activeElement.getAttribute('role')"), 'alert');
  });

  t.test('A file of another kind is refused at its field', async (t) => {
    const { page } = await open('/tasks/new');
    await page.locator('#attachments > summary').click();
    await page.setInputFiles('#files', { name: 'plan.tiff', mimeType: 'image/tiff', buffer: Buffer.from('II') });
    await hasText(page, '#files-error', 'plan.tiff must be a file of one of these kinds');
    t.match(await page.getAttribute('#files', 'aria-describedby'), 'files-error');
  });
});
