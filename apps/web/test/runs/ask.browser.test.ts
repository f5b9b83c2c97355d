import t from 'tap';
import { buildModelAnswer, testAgent } from '../../../api/test/support/agent.ts';
import {
  findAccessibilityFaults,
  openBrowser,
  openPage,
  SKIP_WITHOUT_BROWSER,
} from '../../../api/test/support/browser.ts';
import { readRuns } from '../../../api/test/support/task-rows.ts';
import { postTask, runDue } from '../../../api/test/support/tasks.ts';

const { app, ctx, ai, alice } = await testAgent(t);

t.test(
  'The answer to a question appears as it is written, and another one can follow',
  { skip: SKIP_WITHOUT_BROWSER },
  async (t) => {
    const url = await app.listen({ port: 0, host: '127.0.0.1' });
    const task = await postTask(app, alice());
    await app.inject({ method: 'POST', url: `/api/tasks/${task}/execute`, headers: alice().headers });
    ai.answer(() => ({ text: 'It costs 120 euros.' }));
    await runDue(ctx);
    const [run] = await readRuns(ctx, task);
    ai.answer(buildModelAnswer('It is **the season**.', []));
    const { page, problems } = await openPage(await openBrowser(t), { viewport: { width: 320, height: 900 } });
    await page.context().addCookies([{ name: 'local-session', value: alice().token, url }]);
    await page.goto(`${url}/executions/${run?.id}`);
    const box = page.getByLabel('Question', { exact: true });
    for (const message of ['Why?', 'And in May?']) {
      await box.fill(message);
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      await page.locator('.turn', { hasText: message }).getByRole('link', { name: 'Remember this' }).waitFor();
      t.equal(await box.inputValue(), '');
    }
    t.same(await page.locator('.turn .answer strong').allTextContents(), ['the season', 'the season']);
    ai.answer(() => ({ status: 429 }));
    await box.fill('Too much?');
    await page.getByRole('button', { name: 'Ask', exact: true }).click();
    await page.getByText('The provider limits how often it may be asked').waitFor();
    t.equal(await page.locator('.turn').count(), 2);
    t.same(await findAccessibilityFaults(page), []);
    t.equal(await page.evaluate('document.documentElement.scrollWidth'), 320);
    t.same(problems, []);
  },
);
