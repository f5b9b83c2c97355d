import t from 'tap';
import {
  findAccessibilityFaults,
  openBrowser,
  openPage,
  SKIP_WITHOUT_BROWSER,
} from '../../../api/test/support/browser.ts';
import { insertChannel } from '../../../api/test/support/channel-rows.ts';
import { testContext } from '../../../api/test/support/context.ts';
import { signUpAlice } from '../../../api/test/support/people.ts';
import { startReceiver } from '../../../api/test/support/servers/receiver.ts';

const LONG = `"><script>alert(1)</script>${'x'.repeat(70)}`;

t.test('Channels, with the keyboard and on a phone', { skip: SKIP_WITHOUT_BROWSER }, async (t) => {
  const { app, ctx } = await testContext(t);
  const alice = await signUpAlice(app);
  const slack = await startReceiver(t);
  const long = await insertChannel(ctx, alice.id, {
    name: LONG,
    shownSettings: { url: `https://${'sub.'.repeat(40)}example.com`, topic: 'x'.repeat(64) },
  });
  const url = await app.listen({ port: 0, host: '127.0.0.1' });
  const browser = await openBrowser(t);
  const open = async (colorScheme: 'light' | 'dark', width: number) => {
    const opened = await openPage(browser, { colorScheme, viewport: { width, height: 800 } });
    await opened.page.context().addCookies([{ name: 'local-session', value: alice.token, url }]);
    return opened;
  };
  const [phone, desk] = await Promise.all([open('dark', 320), open('light', 1280)]);

  t.test('Long names and refused forms have no accessibility fault and no sideways scroll', async (t) => {
    const { page } = phone;
    for (const [address, field, typed, wrong] of [
      ['/channels', null, '', ''],
      [`/channels/${long}`, null, '', ''],
      ['/channels/new?kind=slack', '#url', 'ftp://example.com', '#url'],
      [`/channels/${long}/edit`, '#quietFrom', '22:00', '#quietTo'],
    ] as const) {
      await page.goto(url + address, { waitUntil: 'domcontentloaded' });
      if (field) {
        await page.evaluate('for (const form of document.forms) form.noValidate = true');
        await page.evaluate('for (const details of document.querySelectorAll("details")) details.open = true');
        await page.fill(field, typed);
        await Promise.all([page.waitForNavigation(), page.click('button.primary')]);
        t.equal(await page.getAttribute(wrong, 'aria-invalid'), 'true', address);
      }
      t.equal(await page.evaluate('document.documentElement.scrollWidth'), 320, address);
      t.same(await findAccessibilityFaults(page), [], address);
    }
  });

  t.test('A Slack channel is created and tested with the keyboard alone, and its attempt is shown', async (t) => {
    const { page } = desk;
    const focused = () =>
      page.evaluate<string>('document.activeElement.textContent.trim() || document.activeElement.id');
    const tabTo = async (name: string) => {
      for (let count = 0; count < 60 && !(await focused()).startsWith(name); count++) await page.keyboard.press('Tab');
      t.match(await focused(), name);
    };
    const enter = async (name: string) => {
      await tabTo(name);
      await Promise.all([page.waitForNavigation(), page.keyboard.press('Enter')]);
    };
    await page.goto(`${url}/channels`, { waitUntil: 'domcontentloaded' });
    await enter('New channel');
    await enter('Slack');
    await tabTo('url');
    await page.keyboard.type(`${slack.url}/services/T0/B0/s3cr3t`);
    await tabTo('name');
    await page.keyboard.type('#shop-ops');
    await tabTo('Quiet hours');
    await page.keyboard.press('Enter');
    t.ok(await page.isVisible('#quietFrom'));
    await enter('Create channel');
    t.equal(await page.textContent('h1'), '#shop-ops');
    await enter('Send a test');
    t.match(await page.textContent('main'), /Test delivered: the receiver answered 200/);
    t.match(await page.textContent('tbody tr'), /Test.*Delivered.*Answered 200 in \d+ ms/s);
    t.equal(slack.received.length, 1);
    t.match(JSON.parse(slack.received[0]?.body.toString() ?? ''), { text: 'It works' });
    t.same(await findAccessibilityFaults(page), []);
    t.notMatch(await page.content(), /s3cr3t/);
    const refused = /status of 422/;
    t.same(
      [...phone.problems, ...desk.problems].filter((problem) => !refused.test(problem)),
      [],
    );
  });
});
