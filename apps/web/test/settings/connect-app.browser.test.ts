import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import {
  findAccessibilityFaults,
  openBrowser,
  openPage,
  SKIP_WITHOUT_BROWSER,
} from '../../../api/test/support/browser.ts';
import { testContext } from '../../../api/test/support/context.ts';
import { ask, buildRequest, exchange } from '../../../api/test/support/oauth-client.ts';
import { PASSWORD, signUp } from '../../../api/test/support/people.ts';

/** A program on this computer that waits for its code, at another origin, and goes on to one more. */
async function startProgram() {
  const visits: URL[] = [];
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '', 'http://localhost');
    if (url.pathname !== '/callback') return response.end('<title>Arrived</title>');
    visits.push(url);
    response.writeHead(302, { location: `http://127.0.0.1:${port}/arrived` }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, resolve));
  const { port } = server.address() as AddressInfo;
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return { redirect: `http://localhost:${port}/callback`, visits };
}

const { app, clock } = await testContext(t, { env: { DASHBOARD: 'true' } });
clock.set(new Date());
const url = (await app.listen({ port: 0, host: '127.0.0.1' })).replace('127.0.0.1', 'localhost');

for (const javaScriptEnabled of [true, false]) {
  t.test(
    `A person signs in, connects a program and comes back to it, ${javaScriptEnabled ? 'with' : 'without'} scripts`,
    { skip: SKIP_WITHOUT_BROWSER },
    async (t) => {
      const { redirect, visits } = await startProgram();
      const program = { id: 'https://claude.ai/oauth/claude-code-client-metadata', redirect };
      const alice = await signUp(app);
      const { search, verifier } = buildRequest(program);
      const browser = await openBrowser(t);
      const { page, problems } = await openPage(browser, { javaScriptEnabled });
      await page.goto(`${url}/oauth/authorize?${search}`);
      await page.fill('[name=email]', alice.email);
      await page.fill('[name=password]', PASSWORD);
      await page.keyboard.press('Enter');
      await page.waitForURL(`${url}/oauth/authorize?**`);
      t.equal(await page.textContent('h1'), 'Connect Claude Code?');
      if (javaScriptEnabled) t.same(await findAccessibilityFaults(page), []);
      await page.check('[name=preset][value=look]');
      await page.click('button[value=allow]');
      await page.waitForURL('**/arrived');
      t.equal(await page.title(), 'Arrived');
      t.equal(visits.length, 1);
      const code = visits[0]?.searchParams.get('code') ?? '';
      const answer = await exchange(app, program, { code, verifier });
      t.equal((await ask(app, answer.json().access_token)).statusCode, 200);
      t.same(problems, [], 'the policy of the page holds');
    },
  );
}
