import t from 'tap';
import { openBrowser, openPage, SKIP_WITHOUT_BROWSER } from '../../../api/test/support/browser.ts';
import { testContext } from '../../../api/test/support/context.ts';
import { signUpAlice } from '../../../api/test/support/people.ts';
import { insertSample } from '../../../api/test/support/sample.ts';

t.test(
  'A change between the reading of a page and the start of its stream is shown',
  { skip: SKIP_WITHOUT_BROWSER },
  async (t) => {
    const { app, ctx } = await testContext(t);
    const alice = await signUpAlice(app);
    const { tasks } = await insertSample(ctx, alice.id);
    const url = await app.listen({ port: 0, host: '127.0.0.1' });
    const { page, problems } = await openPage(await openBrowser(t));
    await page.context().addCookies([{ name: 'local-session', value: alice.token, url }]);
    const rename = (name: string) =>
      app.inject({
        method: 'PATCH',
        url: `/api/tasks/${tasks.get('Stand-up questions')}`,
        headers: alice.headers,
        payload: { name },
      });
    await rename('Before');
    // The script starts once the task has its new name.
    await page.route('**/scripts/live-*', async (route) => {
      t.equal((await rename('After')).statusCode, 200);
      await route.continue();
    });
    await page.goto(`${url}/tasks`);
    await page.getByRole('link', { name: 'After' }).waitFor();
    t.equal(await page.getByRole('link', { name: 'Before' }).count(), 0);
    t.same(problems, []);
  },
);
