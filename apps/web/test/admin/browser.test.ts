import { getTexts } from '@carillon/texts';
import t from 'tap';
import {
  findAccessibilityFaults,
  openBrowser,
  openPage,
  SKIP_WITHOUT_BROWSER,
} from '../../../api/test/support/browser.ts';
import { testContext } from '../../../api/test/support/context.ts';
import { PASSWORD, signUp, signUpAda } from '../../../api/test/support/people.ts';

const { app, ctx, clock } = await testContext(t);
const ada = await signUpAda(app);
const bob = await signUp(app, { name: `"><script>alert(1)</script>${'x'.repeat(70)}`, email: 'bob@example.com' });
await ctx.db.execute(`insert into audit_log (at, kind, actor_email, user_id, details)
  values (now(), '${'kind'.repeat(500)}', '${'e'.repeat(254)}', ${bob.id}, '{"word": "${'w'.repeat(10_000)}"}')`);

t.test('With the keyboard, in both themes and on a phone', { skip: SKIP_WITHOUT_BROWSER }, async (t) => {
  const url = await app.listen({ port: 0, host: '127.0.0.1' });
  const browser = await openBrowser(t);
  const open = async (colorScheme: 'light' | 'dark') => {
    const opened = await openPage(browser, { colorScheme, viewport: { width: 320, height: 700 } });
    await opened.page.context().addCookies([{ name: 'local-session', value: ada.token, url }]);
    return opened;
  };
  const [light, dark] = await Promise.all([open('light'), open('dark')]);

  t.test('Long words and a refused form have no accessibility fault and no sideways scroll', async (t) => {
    await Promise.all(
      [light.page, dark.page].map(async (page) => {
        for (const address of ['/admin/audit', `/admin/users/${bob.id}`, '/admin/coupons/new']) {
          await page.goto(url + address, { waitUntil: 'domcontentloaded' });
          if (address.endsWith('new')) {
            await page.fill('#code', 'a b c d');
            await Promise.all([page.waitForNavigation(), page.press('#code', 'Enter')]);
            t.equal(await page.getAttribute('#code', 'aria-describedby'), 'code-hint code-error');
          }
          t.equal(await page.evaluate('document.documentElement.scrollWidth'), 320, address);
          if (address.endsWith(String(bob.id))) continue;
          t.same(await findAccessibilityFaults(page), [], address);
        }
      }),
    );
  });

  t.test('An admin confirms with the password and deletes an account with the keyboard alone', async (t) => {
    clock.advance(16 * 60_000);
    const { page } = light;
    const focused = () =>
      page.evaluate<string>('document.activeElement.textContent.trim() || document.activeElement.id');
    const tabTo = async (name: string) => {
      for (let count = 0; count < 40 && (await focused()) !== name; count++) await page.keyboard.press('Tab');
      t.equal(await focused(), name);
    };
    const enter = () => Promise.all([page.waitForNavigation(), page.keyboard.press('Enter')]);
    const heading = () => page.textContent('h1');
    await page.goto(`${url}/admin/users/${bob.id}`, { waitUntil: 'domcontentloaded' });
    await tabTo('Delete…');
    await enter();
    const typeAddress = async () => {
      await tabTo('email');
      await page.keyboard.type(bob.email);
      await enter();
    };
    await typeAddress();
    t.equal(await heading(), getTexts('en').admin.confirm);
    await tabTo('currentPassword');
    await page.keyboard.type(PASSWORD);
    await enter();
    t.match(await heading(), /^Delete/);
    await typeAddress();
    t.match(await page.textContent('main'), /The account is deleted/);
    t.same(
      [...light.problems, ...dark.problems].filter((problem) => !/status of 422/.test(problem)),
      [],
    );
  });
});
