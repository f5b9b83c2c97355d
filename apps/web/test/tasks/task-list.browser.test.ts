import t from 'tap';
import {
  findAccessibilityFaults,
  openBrowser,
  openPage,
  SKIP_WITHOUT_BROWSER,
} from '../../../api/test/support/browser.ts';
import { testContext } from '../../../api/test/support/context.ts';
import { signUpAlice } from '../../../api/test/support/people.ts';
import { insertHistory } from '../../../api/test/support/task-history.ts';
import { insertTask } from '../../../api/test/support/task-rows.ts';

t.test('Lists keep their parts apart', { skip: SKIP_WITHOUT_BROWSER }, async (t) => {
  const { app, ctx } = await testContext(t);
  const alice = await signUpAlice(app);
  const id = await insertTask(ctx, alice.id, {
    name: 'A task with a name of some length',
    nextExecutionAt: new Date('2026-11-21T09:00:00Z'),
  });
  await insertHistory(
    ctx,
    id,
    Array.from({ length: 30 }, (_, at) => ({
      plannedFor: new Date(Date.UTC(2026, 10, 1, at)),
      fate: 'ran' as const,
      costUsd: 1234.5678,
      ...(at % 2 === 0 && { status: 'failed' as const }),
    })),
  );
  const url = await app.listen({ port: 0, host: '127.0.0.1' });
  const { page } = await openPage(await openBrowser(t));
  await page.context().addCookies([{ name: 'local-session', value: alice.token, url }]);

  await t.test('The strip and the cost of a task on a phone', async (t) => {
    await page.setViewportSize({ width: 390, height: 844 });
    await page.goto(`${url}/tasks`);
    const [strip, cost] = await Promise.all([
      page.locator('tbody .strip').boundingBox(),
      page.locator('tbody .num').boundingBox(),
    ]);
    t.ok(strip && cost && strip.x + strip.width <= cost.x, JSON.stringify({ strip, cost }));
  });

  await t.test('The keyboard moves through the runs of a strip, and opens one', async (t) => {
    await page.goto(`${url}/tasks/${id}`);
    const links = page.locator('.strip.tall a');
    const focused = () => page.evaluate<string>("document.activeElement.getAttribute('aria-label') ?? ''");
    await links.last().focus();
    t.match(await focused(), /^Mon 2 Nov 05:00|2 Nov/);
    await page.keyboard.press('ArrowLeft');
    t.equal(await focused(), await links.nth(28).getAttribute('aria-label'));
    await page.keyboard.press('Home');
    t.equal(await focused(), await links.first().getAttribute('aria-label'));
    await page.keyboard.press('ArrowLeft');
    t.equal(await focused(), await links.first().getAttribute('aria-label'));
    t.equal(await page.locator('.strip.tall a:not([tabindex="-1"])').count(), 1, 'one stop of the Tab key');
    t.same(await findAccessibilityFaults(page), []);
    await Promise.all([page.waitForURL(/\/executions\/\d+$/), page.keyboard.press('Enter')]);
  });

  await t.test('The words of a button stay in one line', async (t) => {
    for (const width of [1024, 1100, 1200, 1300]) {
      await page.setViewportSize({ width, height: 844 });
      await page.goto(`${url}/executions`);
      const box = await page
        .getByRole('button', { name: /^Retry/ })
        .first()
        .boundingBox();
      t.ok(box && box.height <= 40, `${width}: ${box?.height}`);
    }
  });
});
