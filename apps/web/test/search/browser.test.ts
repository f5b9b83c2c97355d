import t from 'tap';
import {
  findAccessibilityFaults,
  openBrowser,
  openPage,
  SKIP_WITHOUT_BROWSER,
} from '../../../api/test/support/browser.ts';
import { testContext } from '../../../api/test/support/context.ts';
import { signUpAlice } from '../../../api/test/support/people.ts';
import { insertTask } from '../../../api/test/support/task-rows.ts';

t.test(
  'Ctrl-K opens the search, and the keyboard alone leads to what is found',
  { skip: SKIP_WITHOUT_BROWSER },
  async (t) => {
    const { app, ctx, clock } = await testContext(t);
    // Browsers drop cookies that have expired.
    clock.set(new Date());
    const alice = await signUpAlice(app);
    const id = await insertTask(ctx, alice.id, { name: 'Morning news' });
    const url = await app.listen({ port: 0, host: '127.0.0.1' });
    const { page, problems } = await openPage(await openBrowser(t));
    await page.context().addCookies([{ name: 'local-session', value: alice.token, url }]);
    await page.goto(`${url}/tasks`);
    const dialog = page.getByRole('dialog', { name: 'Search' });
    await page.keyboard.press('Control+k');
    await dialog.waitFor();
    await page.keyboard.type('news');
    await dialog.getByRole('link', { name: 'Morning news' }).waitFor();
    t.same(await findAccessibilityFaults(page), []);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForURL(`${url}/tasks/${id}`);
    await page.getByRole('link', { name: 'Search' }).click();
    await dialog.waitFor();
    await page.keyboard.press('Escape');
    t.equal(await dialog.isVisible(), false);
    t.equal(await page.evaluate('document.activeElement.textContent.trim()'), 'Search');
    t.same(problems, []);
  },
);
