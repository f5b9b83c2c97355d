import t from 'tap';
import { buildSetupPath } from '../../../api/src/product/auth/setup/link.ts';
import {
  findAccessibilityFaults,
  openBrowser,
  openPage,
  SKIP_WITHOUT_BROWSER,
} from '../../../api/test/support/browser.ts';
import { testContext } from '../../../api/test/support/context.ts';
import { PASSWORD } from '../../../api/test/support/people.ts';

t.test('The first admin is made, and makes a key, with the keyboard', { skip: SKIP_WITHOUT_BROWSER }, async (t) => {
  const { app, ctx, clock } = await testContext(t);
  // Sessions and links end by the clock of the service.
  clock.set(new Date());
  const url = (await app.listen({ port: 0, host: '127.0.0.1' })).replace('127.0.0.1', 'localhost');
  const browser = await openBrowser(t);
  const { page, problems } = await openPage(browser, { timezoneId: 'Asia/Tokyo', colorScheme: 'dark' });
  const { keyboard } = page;
  const press = async (...keys: string[]) => {
    for (const key of keys) await keyboard.press(key);
  };
  const type = async (...texts: string[]) => {
    for (const text of texts) {
      await press('Tab');
      await keyboard.type(text);
    }
  };
  const checkPage = async () => {
    t.same(await findAccessibilityFaults(page), [], page.url());
    await page.setViewportSize({ width: 320, height: 900 });
    t.ok(Number(await page.evaluate('document.documentElement.scrollWidth')) <= 320, page.url());
    await page.setViewportSize({ width: 1280, height: 900 });
  };

  await page.goto(url + buildSetupPath(ctx));
  await checkPage();
  t.equal(await page.inputValue('[name=timezone]'), 'Asia/Tokyo', 'the zone of the device');
  await type('Ada', 'ada@example.com', PASSWORD);
  await press('Enter');
  await page.waitForURL(`${url}/admin/providers/new`);

  await page.goto(`${url}/settings/keys`);
  await page.focus('[name=name]');
  await keyboard.type('Backup job');
  await press('Tab', 'Space', 'Enter');
  await page.waitForSelector('.secret');
  t.equal(await page.textContent('h1'), 'Key created');
  t.match(await page.textContent('.secret'), /^crl_\w{38}$/);
  await checkPage();

  await page.goto(`${url}/settings`);
  await page.focus('[name=theme]:checked');
  await press('ArrowRight', 'Enter');
  await page.waitForSelector('[data-theme=light]');
  t.match(await page.textContent('[role=status]'), 'Your profile is saved.');
  t.same(problems, []);
});
