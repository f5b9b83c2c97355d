import t from 'tap';
import { enqueueDue } from '../../../api/src/product/executions/pipeline/enqueue.ts';
import { pipeline } from '../../../api/src/product/executions/pipeline.ts';
import {
  findAccessibilityFaults,
  openBrowser,
  openPage,
  SKIP_WITHOUT_BROWSER,
} from '../../../api/test/support/browser.ts';
import { testContext } from '../../../api/test/support/context.ts';
import { signUpAlice } from '../../../api/test/support/people.ts';
import { insertTask, readRun } from '../../../api/test/support/task-rows.ts';
import { answer, createModel, runAll } from '../support/runs.ts';

const LONG = [
  '# Week in bells',
  ...['News', 'Prices', 'Weather', 'Sources'].flatMap((title) => [
    `## ${title}`,
    'The bell of the tower rings at noon. '.repeat(30),
    '> A quote of the keeper.',
    '| City | Price |\n|---|---:|\n| Berlin | 12 € |\n| Porto | 9 € |',
  ]),
].join('\n\n');

t.test('The page of a run in a browser', { skip: SKIP_WITHOUT_BROWSER }, async (t) => {
  const model = createModel();
  const { app, ctx } = await testContext(t, { ai: model.ai });
  const alice = await signUpAlice(app);
  const url = await app.listen({ port: 0, host: '127.0.0.1' });
  const browser = await openBrowser(t);
  const open = async (path: string, width = 1280) => {
    const { page, problems } = await openPage(browser, {
      viewport: { width, height: 800 },
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    await page.context().addCookies([{ name: 'local-session', value: alice.token, url }]);
    await page.goto(url + path);
    return { page, problems };
  };

  t.test('A long answer has contents, is folded on a phone, and is copied', async (t) => {
    const task = await insertTask(ctx, alice.id, { recurrence: 'once' });
    await runAll(ctx, model, answer(LONG));
    const path = `/executions/${(await readRun(ctx, task)).id}`;
    const wide = await open(path);
    t.same(await wide.page.locator('.contents a').allTextContents(), ['News', 'Prices', 'Weather', 'Sources']);
    t.equal(await wide.page.locator('.show-all').isVisible(), false);
    await wide.page.getByRole('button', { name: 'Copy' }).click();
    await wide.page.getByText('Copied').waitFor();
    const copied = await wide.page.evaluate<string>('navigator.clipboard.readText()');
    t.match(copied, /^Week in bells\s+News\s+The bell of the tower/);
    t.notMatch(copied, /#|\|/);
    t.same(await findAccessibilityFaults(wide.page), []);
    t.same(wide.problems, []);

    const { page } = await open(path, 390);
    const text = page.locator('.answer.long');
    const heightOf = async () => (await text.boundingBox())?.height ?? 0;
    t.equal(await heightOf(), 576);
    await page.getByLabel('Show the whole answer').check();
    t.ok((await heightOf()) > 1000);
    await page.reload();
    await page.getByRole('link', { name: 'Weather' }).click();
    t.ok((await heightOf()) > 1000, 'a link into the answer shows it');
  });

  t.test('A run that runs has a clock that ticks', async (t) => {
    const task = await insertTask(ctx, alice.id);
    await enqueueDue(ctx);
    await pipeline.claim(ctx, { limit: 1, after: 0 });
    const { page, problems } = await open(`/executions/${(await readRun(ctx, task)).id}`);
    const clock = page.getByRole('timer');
    const first = await clock.textContent();
    t.match(first, /^\d+:\d\d$/);
    await page
      .getByRole('timer')
      .filter({ hasNotText: first ?? '' })
      .waitFor();
    t.same(problems, []);
  });
});
