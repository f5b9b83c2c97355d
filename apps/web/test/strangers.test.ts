import { randomUUID } from 'node:crypto';
import t from 'tap';
import { alerts } from '../../../packages/db/src/index.ts';
import { listRoutes } from '../../api/test/support/contract/conformance.ts';
import { signUpBob } from '../../api/test/support/people.ts';
import { toAddress } from './support/every-page.ts';
import { fillAccount } from './support/filled-account.ts';
import { visit } from './support/visitor.ts';

const { app, ctx, ada, parameters } = await fillAccount(t);
const bob = visit(app, await signUpBob(app));

/** A session that has ended already is no error, and a part of a page says in a sentence that there is no such task. */
const OTHERS = ['/settings/sessions/:id/end', '/tasks/:id/sent'];

/** What no stranger may change, by the pattern of its page. */
const patterns = listRoutes(app)
  .filter(({ method, config }) => [method].flat().includes('POST') && config?.access === 'page')
  .map(({ url }) => url)
  .filter((url) => url.includes(':') && !/^\/(admin|handler|unsubscribe)\//.test(url) && !OTHERS.includes(url));
const [alert] = await ctx.db.select({ id: alerts.id }).from(alerts).limit(1);
const ids = {
  ...parameters,
  '/alerts/': alert?.id ?? 0,
  '/channels/:id/deliveries/': randomUUID(),
  '/notifications/': randomUUID(),
  '/usage/alerts/': randomUUID(),
  '/agent/proposals/': randomUUID(),
};

t.test("A form about another user's task, run, feed, channel or key is 404, and changes nothing", async (t) => {
  t.ok(patterns.length > 25, `${patterns.length} forms`);
  const page = await bob.open('/settings');
  const token = page.document.querySelector('[name=_csrf]')?.getAttribute('value') ?? '';
  const cookie = [...bob.cookies].map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('; ');
  const readTask = async () =>
    (await app.inject({ url: `/api/tasks/${parameters['/tasks/']}`, headers: ada.headers })).json().task;
  const before = await readTask();
  for (const pattern of patterns) {
    for (const fields of ['do=run', 'do=pause', 'plannedFor=2026-11-20T10%3A00%3A00.000Z']) {
      const answer = await app.inject({
        method: 'POST',
        url: toAddress(pattern, ids),
        headers: {
          cookie,
          accept: 'text/html',
          host: 'localhost:3000',
          origin: 'http://localhost:3000',
          'sec-fetch-site': 'same-origin',
          'content-type': 'application/x-www-form-urlencoded',
        },
        payload: `_csrf=${encodeURIComponent(token)}&name=Taken&${fields}`,
      });
      t.equal(answer.statusCode, 404, `${pattern} ${fields}`);
    }
  }
  t.same(await readTask(), before);
});
