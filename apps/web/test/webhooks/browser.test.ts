import t from 'tap';
import {
  findAccessibilityFaults,
  openBrowser,
  openPage,
  SKIP_WITHOUT_BROWSER,
} from '../../../api/test/support/browser.ts';
import { testContext } from '../../../api/test/support/context.ts';
import { signUpAlice } from '../../../api/test/support/people.ts';
import { startReceiver } from '../../../api/test/support/servers/receiver.ts';
import { insertWebhooks, recordManyEvents } from '../../../api/test/support/webhooks.ts';

const LONG = `"><script>alert(1)</script>${'x'.repeat(400)}`;

t.test('Webhooks and usage, with the keyboard and on a phone', { skip: SKIP_WITHOUT_BROWSER }, async (t) => {
  const { app, ctx } = await testContext(t);
  const alice = await signUpAlice(app);
  const receiver = await startReceiver(t);
  const host = `${'sub.'.repeat(40)}example.com`;
  const [long] = await insertWebhooks(ctx, alice.id, [`https://${host}/${'x'.repeat(1000)}`], { description: LONG });
  await recordManyEvents(ctx, alice.id, 1, 'task.updated', { task: { name: LONG.repeat(20) } });
  const url = await app.listen({ port: 0, host: '127.0.0.1' });
  const browser = await openBrowser(t);
  const open = async (colorScheme: 'light' | 'dark', width: number) => {
    const opened = await openPage(browser, { colorScheme, viewport: { width, height: 800 } });
    await opened.page.context().addCookies([{ name: 'local-session', value: alice.token, url }]);
    return opened;
  };
  const [phone, desk] = await Promise.all([open('dark', 320), open('light', 1280)]);

  t.test('Long addresses and refused forms have no accessibility fault and no sideways scroll', async (t) => {
    const { page } = phone;
    for (const [address, field, typed] of [
      ['/webhooks', null, ''],
      [`/webhooks/${long?.id}`, null, ''],
      [`/webhooks/${long?.id}/edit`, '#url', 'https://'.padEnd(300, 'x')],
      ['/usage', '#threshold', '0'],
    ] as const) {
      await page.goto(url + address, { waitUntil: 'domcontentloaded' });
      if (field) {
        await page.evaluate('for (const form of document.forms) form.noValidate = true');
        await page.fill(field, typed);
        await Promise.all([page.waitForNavigation(), page.press(field, 'Enter')]);
        t.equal(await page.getAttribute(field, 'aria-invalid'), 'true', address);
      }
      t.equal(await page.evaluate('document.documentElement.scrollWidth'), 320, address);
      t.same(await findAccessibilityFaults(page), [], address);
    }
  });

  t.test('A webhook is created, tested and given a new secret with the keyboard alone', async (t) => {
    const { page } = desk;
    const focused = () =>
      page.evaluate<string>('document.activeElement.textContent.trim() || document.activeElement.id');
    const tabTo = async (name: string) => {
      for (let count = 0; count < 60 && (await focused()) !== name; count++) await page.keyboard.press('Tab');
      t.equal(await focused(), name);
    };
    const enter = async (name: string) => {
      await tabTo(name);
      await Promise.all([page.waitForNavigation(), page.keyboard.press('Enter')]);
    };
    const secret = () => page.textContent('.secret');
    await page.goto(`${url}/webhooks`, { waitUntil: 'domcontentloaded' });
    await enter('New webhook');
    await tabTo('url');
    await page.keyboard.type(receiver.url);
    await enter('Create webhook');
    const first = await secret();
    t.match(first, /^whsec_/);
    t.same(await findAccessibilityFaults(page), []);
    await enter('I have copied it');
    await enter('Send a test');
    t.match(await page.textContent('main'), /Test delivered: the receiver answered 200/);
    await enter('Rotate secret…');
    await enter('Rotate secret');
    const second = await secret();
    t.match(second, /^whsec_/);
    t.not(second, first);
    await enter('I have copied it');
    t.notMatch(await page.content(), /whsec_/);
    const refused = /status of 422/;
    t.same(
      [...phone.problems, ...desk.problems].filter((problem) => !refused.test(problem)),
      [],
    );
  });
});
