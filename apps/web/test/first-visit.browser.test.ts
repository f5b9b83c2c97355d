import t from 'tap';
import { openBrowser, openPage, SKIP_WITHOUT_BROWSER } from '../../api/test/support/browser.ts';
import { testContext } from '../../api/test/support/context.ts';
import { signUpAlice } from '../../api/test/support/people.ts';
import { insertSample, SAMPLE_NOW } from '../../api/test/support/sample.ts';

const MAX_BYTES = 60_000;
const MAX_SHIFT = 0.02;

/** Runs before the page, which reports each shift that no person has caused. */
const MEASURE = `globalThis.shift = 0;
new PerformanceObserver((list) => {
  for (const { hadRecentInput, value } of list.getEntries()) if (!hadRecentInput) globalThis.shift += value;
}).observe({ type: 'layout-shift', buffered: true });`;

t.test(
  'A first visit loads at most 60 KB without the typeface, and nothing moves',
  { skip: SKIP_WITHOUT_BROWSER },
  async (t) => {
    const { app, ctx, clock } = await testContext(t);
    clock.set(SAMPLE_NOW);
    const alice = await signUpAlice(app);
    const { changedRun, tasks } = await insertSample(ctx, alice.id);
    const url = await app.listen({ port: 0, host: '127.0.0.1' });
    const browser = await openBrowser(t);
    const paths = [
      '/',
      '/tasks',
      `/tasks/${tasks.get('Nightly error digest')}`,
      '/executions',
      `/executions/${changedRun}`,
    ];
    for (const path of paths) {
      for (const width of [390, 1280]) {
        const { page, problems } = await openPage(browser, { viewport: { width, height: 844 } });
        await page.context().addCookies([{ name: 'local-session', value: alice.token, url }]);
        await page.addInitScript(MEASURE);
        const sizes: Promise<number>[] = [];
        page.on('requestfinished', (request) => {
          const size = request
            .sizes()
            .then(({ responseBodySize, responseHeadersSize }) => responseBodySize + responseHeadersSize);
          if (!request.url().endsWith('.woff2') && request.resourceType() !== 'eventsource') sizes.push(size);
        });
        await page.goto(url + path);
        if ((await page.locator('#live').count()) > 0) await page.locator('#live', { hasText: 'Live' }).waitFor();
        await page.evaluate('document.fonts.ready');
        const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
        t.ok(bytes <= MAX_BYTES, `${path} at ${width} loads ${bytes} bytes`);
        t.ok(Number(await page.evaluate('shift')) <= MAX_SHIFT, `${path} at ${width}`);
        t.ok(await page.evaluate(`document.fonts.check('16px "Hanken Grotesk"')`), 'with its typeface');
        t.same(problems, []);
        await page.context().close();
      }
    }
  },
);
