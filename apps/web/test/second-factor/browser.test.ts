import t from 'tap';
import {
  findAccessibilityFaults,
  type OpenPage,
  openBrowser,
  openPage,
  SKIP_WITHOUT_BROWSER,
} from '../../../api/test/support/browser.ts';
import { testContext } from '../../../api/test/support/context.ts';
import { PASSWORD, signUp } from '../../../api/test/support/people.ts';

/** Gives the page a device that has passkeys and verifies its owner. */
async function addDevice(page: OpenPage['page']) {
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('WebAuthn.enable');
  const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return {
    setVerified: (isUserVerified: boolean) => cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified }),
    countPasskeys: async () => (await cdp.send('WebAuthn.getCredentials', { authenticatorId })).credentials.length,
  };
}

t.test('A browser adds a passkey, signs in with it and confirms with it', { skip: SKIP_WITHOUT_BROWSER }, async (t) => {
  const port = 20_000 + (process.pid % 20_000);
  const url = `http://localhost:${port}`;
  const { app, ctx, clock } = await testContext(t, { env: { BASE_URL: url, APP_URL: url, COOKIE_SECURE: 'false' } });
  clock.set(new Date());
  await app.listen({ port, host: '127.0.0.1' });
  const alice = await signUp(app);
  const browser = await openBrowser(t);
  const { page, problems } = await openPage(browser);
  const device = await addDevice(page);
  const signOut = async () => {
    // The stream of a page that has just opened would be refused without the cookie.
    await page.goto('about:blank');
    await page.context().clearCookies();
  };
  const checkPage = async () => t.same(await findAccessibilityFaults(page), [], page.url());
  await page.context().addCookies([{ name: 'local-session', value: alice.token, url }]);

  await page.goto(`${url}/settings/second-factor`);
  await checkPage();
  await device.setVerified(false);
  await page.click('text=Add a passkey >> nth=-1');
  await page.waitForSelector('text=The device did not confirm');
  await device.setVerified(true);
  await page.fill('#passkey-name', 'Laptop');
  await page.click('button:has-text("Add a passkey")');
  await page.waitForSelector('.codes');
  t.equal(await page.locator('.codes li').count(), 10);
  t.equal(await device.countPasskeys(), 1);
  await checkPage();
  await page.click('text=I have kept them');
  t.match(await page.textContent('main'), /Laptop\s*Passkey/);
  await checkPage();

  await signOut();
  await page.goto(`${url}/sign-in?next=/tasks`);
  await checkPage();
  await page.click('text=Sign in with a passkey');
  await page.waitForURL(`${url}/tasks`);

  await signOut();
  await page.goto(`${url}/sign-in?next=/usage`);
  await page.fill('[name=email]', alice.email);
  await page.fill('[name=password]', PASSWORD);
  await page.click('button:text-is("Sign in")');
  await page.waitForURL(/\/sign-in\/second-factor/);
  await checkPage();
  await page.click('text=Sign in with a passkey');
  await page.waitForURL(`${url}/usage`);

  clock.set(new Date(ctx.now().getTime() + 15 * 60_000));
  await page.goto(`${url}/settings/second-factor`);
  await page.click('main a:text-is("Confirm")');
  await page.waitForURL(/\/settings\/confirm/);
  await checkPage();
  await page.click('text=Confirm with a passkey');
  await page.waitForURL(`${url}/settings/second-factor`);
  await page.click('main td a:has-text("Delete")');
  await page.click('button:has-text("Delete second factor")');
  await page.waitForSelector('text=The second factor is deleted.');
  // The console reports the 401 of the next sign-in, at any time.
  t.same(problems, []);

  await signOut();
  await page.goto(`${url}/sign-in`);
  await page.click('text=Sign in with a passkey');
  await page.waitForSelector('text=The passkey was not accepted');
});
