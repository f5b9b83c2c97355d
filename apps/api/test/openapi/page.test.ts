import type { Page } from 'playwright-core';
import t from 'tap';
import { findAccessibilityFaults, openBrowser, openPage, SKIP_WITHOUT_BROWSER } from '../support/browser.ts';
import { testContext } from '../support/context.ts';
import { PASSWORD, signUpAlice } from '../support/people.ts';

/** 10000 to 32767: below the ports of outgoing connections. */
const PORT = 10_000 + (process.pid % 22_768);

t.test('The page of the API works in a browser', { skip: SKIP_WITHOUT_BROWSER }, async (t) => {
  const { app } = await testContext(t, { env: { BASE_URL: `http://localhost:${PORT}`, COOKIE_SECURE: 'false' } });
  await app.listen({ port: PORT, host: '127.0.0.1' });
  const alice = await signUpAlice(app);
  const credentials = { email: alice.email, password: PASSWORD };
  const browser = await openBrowser(t);

  // Loading the page is most of the time, so all steps use the same page.
  await t.test('At localhost, on a dark system', async (t) => {
    const { page, problems } = await openPage(browser, { colorScheme: 'dark' });
    await page.goto(`http://localhost:${PORT}/api/docs`);
    const groups = page.locator('.opblock-tag');
    const operations = page.locator('.opblock-tag-section .opblock');
    await groups.first().waitFor();

    await t.test('Groups are closed at first, and the filter opens those with operations that match', async (t) => {
      t.ok((await groups.count()) > 10);
      t.equal(await operations.count(), 0);
      await findFilter(page).fill('SESSIONS');
      await operations.nth(1).waitFor();
      const paths = await page.locator('.opblock-tag-section .opblock-summary-path').allTextContents();
      t.same(paths, ['/api/auth/sessions', '/api/auth/sessions/{id}']);
      t.equal(await groups.count(), 1);
      await findFilter(page).fill('');
      await groups.nth(10).waitFor();
      t.equal(await operations.count(), 0);
    });

    await t.test('An operation is not tall, and an error shows its example on request', async (t) => {
      const operation = await openOperation(page, 'tasks-createTask');
      const { height } = (await operation.boundingBox()) ?? { height: Number.POSITIVE_INFINITY };
      t.ok(height < 1500, `${height} px`);
      const error = operation.getByRole('button', { name: 'The plan allows no more active tasks' });
      t.equal(await error.getAttribute('aria-expanded'), 'false');
      await error.focus();
      await page.keyboard.press('Enter');
      t.match(await operation.locator('.response-details').textContent(), /"resource": "activeTasks"/);
      t.equal(await error.getAttribute('aria-expanded'), 'true');
      const header = operation.getByText('X-RateLimit-Remaining').first();
      t.equal(await header.isVisible(), false);
      await operation
        .getByText(/^\d response headers$/)
        .first()
        .click();
      t.equal(await header.isVisible(), true);
    });

    await t.test('A request can be tried', async (t) => {
      t.match(await tryOperation(page, 'auth-login', credentials), /^200/);
      t.match(await tryOperation(page, 'users-getUser'), /^200.*"email": "alice@example.com"/s, 'with its cookie too');
    });

    await t.test('The page is dark and accessible, and becomes light with the system', async (t) => {
      t.match(await getBackground(page), /^rgb\(\d\d, /);
      t.same(await findAccessibilityFaults(page), []);
      await page.emulateMedia({ colorScheme: 'light' });
      await page.locator('html:not(.dark-mode)').waitFor();
      t.notMatch(await getBackground(page), /^rgb\(\d\d, /);
    });
    t.same(problems, [], 'and nothing violates the policy');
  });

  await t.test('At 127.0.0.1, on a light system', async (t) => {
    const { page, problems } = await openPage(browser);
    await page.goto(`http://127.0.0.1:${PORT}/api/docs#/auth/login`);

    await t.test('The page is light and accessible', async (t) => {
      await page.locator('.responses-table').waitFor();
      t.notMatch(await getBackground(page), /^rgb\(\d\d, /);
      t.same(await findAccessibilityFaults(page), []);
    });

    await t.test('A request can be tried', async (t) => {
      t.match(await tryOperation(page, 'auth-login', credentials), /^200/);
    });

    await t.test('Authorization is kept over a reload', async (t) => {
      await page.locator('.btn.authorize').click();
      const bearer = page.locator('.auth-container').filter({ hasText: 'bearer  (http, Bearer)' });
      await bearer.getByRole('textbox').fill(alice.token);
      await bearer.getByRole('button', { name: 'Apply' }).click();
      await page.context().clearCookies();
      await page.reload();
      t.match(await tryOperation(page, 'users-getUser'), /^200.*"email": "alice@example.com"/s);
    });
    t.same(problems, [], 'and nothing violates the policy');
  });
});

const findFilter = (page: Page) => page.getByRole('searchbox', { name: 'Filter operations' });

const getBackground = (page: Page) =>
  page.evaluate<string>('getComputedStyle(document.documentElement).backgroundColor');

async function openOperation(page: Page, id: string) {
  await findFilter(page).fill(id.split('-')[1] ?? '');
  const operation = page.locator(`#operations-${id}`);
  await operation.locator('.opblock-summary-control').waitFor();
  if ((await operation.locator('.opblock-body').count()) === 0)
    await operation.locator('.opblock-summary-control').click();
  await operation.locator('.responses-table').first().waitFor();
  return operation;
}

/** Sends the request of an operation; returns status and body of the response. */
async function tryOperation(page: Page, id: string, body?: object): Promise<string | null> {
  const operation = await openOperation(page, id);
  await operation.getByRole('button', { name: 'Try it out' }).click();
  if (body) await operation.locator('textarea').fill(JSON.stringify(body));
  await operation.getByRole('button', { name: 'Execute' }).click();
  return operation.locator('.live-responses-table .response').textContent();
}
