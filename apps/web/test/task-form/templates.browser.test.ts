import t from 'tap';
import {
  findAccessibilityFaults,
  openBrowser,
  openPage,
  SKIP_WITHOUT_BROWSER,
} from '../../../api/test/support/browser.ts';
import { testContext } from '../../../api/test/support/context.ts';
import { signUp } from '../../../api/test/support/people.ts';
import { createReader } from './read-form.ts';

/** Without a provider: the built-in model answers. */
const { app, clock } = await testContext(t);
clock.set(new Date());
const url = await app.listen({ port: 0, host: '127.0.0.1' });

const VISITS = [
  { width: 1280, javaScriptEnabled: true },
  { width: 390, javaScriptEnabled: true },
  { width: 390, javaScriptEnabled: false },
];

for (const { width, javaScriptEnabled } of VISITS) {
  const title = `A newcomer has a task from a template by the keyboard (${width} px, ${javaScriptEnabled ? 'with' : 'without'} scripts)`;
  t.test(title, { skip: SKIP_WITHOUT_BROWSER }, async (t) => {
    const person = await signUp(app, { name: `Newcomer ${width} ${javaScriptEnabled}`, timezone: 'Europe/Berlin' });
    const browser = await openBrowser(t);
    const { page, problems } = await openPage(browser, { viewport: { width, height: 844 }, javaScriptEnabled });
    await page.context().addCookies([{ name: 'local-session', value: person.token, url }]);
    await page.goto(url);
    const card = page.getByRole('link', { name: /^Frost and storm/ });
    if (javaScriptEnabled) {
      const isReached = async () => /^Frost and storm/.test(await page.evaluate('document.activeElement.textContent'));
      for (let presses = 0; presses < 60 && !(await isReached()); presses += 1) await page.keyboard.press('Tab');
      t.ok(await isReached(), 'the card is reached by Tab');
    } else await card.focus();
    await page.keyboard.press('Enter');
    await page.waitForURL(/template=frost-and-storm/);
    // The first blank gets the focus when the page is there.
    await page.locator('input:focus').waitFor();
    for (const text of ['52.52', '13.40', 'tomatoes']) {
      await page.keyboard.type(text);
      await page.keyboard.press('Tab');
    }
    // The button of the blanks follows them.
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/executions\/\d+$/);
    const { tasks } = await createReader(app, person).get('/api/tasks');
    t.match(tasks, [
      {
        name: 'Frost and storm',
        prompt: /What needs care: tomatoes\./,
        recurrencePattern: '0 16 * * *',
        watch: ['frost', 'storm'],
        sources: [{ name: 'forecast', url: /latitude=52\.52&longitude=13\.40&/ }],
      },
    ]);
    t.same(problems, []);
  });
}

t.test('A file of a template is opened', { skip: SKIP_WITHOUT_BROWSER }, async (t) => {
  const person = await signUp(app, { name: 'With a file', timezone: 'Europe/Berlin' });
  const { page } = await openPage(await openBrowser(t), {});
  await page.context().addCookies([{ name: 'local-session', value: person.token, url }]);
  const { templates } = await createReader(app, person).get('/api/templates');
  const buffer = Buffer.from(JSON.stringify(templates.find(({ id }: { id: string }) => id === 'releases')));
  await page.goto(`${url}/templates`);
  await page
    .getByLabel('File', { exact: true })
    .setInputFiles({ name: 'x.json', mimeType: 'application/json', buffer });
  await page.getByRole('button', { name: 'Open in the form' }).click();
  await page.getByLabel('A GitHub repository').waitFor();
});

t.test('Templates and their forms pass axe, and fit 320 px', { skip: SKIP_WITHOUT_BROWSER }, async (t) => {
  const person = await signUp(app, { name: 'Narrow' });
  const { page } = await openPage(await openBrowser(t), { viewport: { width: 320, height: 700 } });
  await page.context().addCookies([{ name: 'local-session', value: person.token, url }]);
  for (const path of ['/', '/templates', '/tasks/new?template=my-week', '/tasks/new?template=whats-on']) {
    await page.goto(url + path);
    t.ok(Number(await page.evaluate('document.documentElement.scrollWidth')) <= 320, path);
    t.same(await findAccessibilityFaults(page), [], path);
  }
});
