import { fillBlanks, type Template } from '@carillon/contract/tasks/templates';
import { users } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { testContext } from '../support/context.ts';
import { signUp } from '../support/people.ts';
import { startPageServer } from '../support/servers/page-server.ts';
import { postTask, runDue } from '../support/tasks.ts';

const site = await startPageServer();
const { app, ctx } = await testContext(t, { env: { SOURCES_ALLOW: '127.0.0.1/32', SEARCH_URL: site.url } });
t.teardown(site.close);
const alice = await signUp(app);

const get = async (url: string) => (await app.inject({ url, headers: alice.headers })).json();

const PAGES = {
  feed: {
    type: 'application/atom+xml',
    body: '<feed xmlns="http://www.w3.org/2005/Atom"><title>News</title><id>a</id><updated>2026-11-20T00:00:00Z</updated><entry><id>1</id><title>One</title><link href="https://example.com/1"/><updated>2026-11-20T00:00:00Z</updated></entry></feed>',
  },
  json: { type: 'application/json', body: '{"daily":{"temperature_2m_min":[-2,1]}}' },
  page: { type: 'text/html', body: '<main><h1>Offer</h1><p>It costs 10 EUR and can be ordered now.</p></main>' },
};

const findKind = (url: string): keyof typeof PAGES =>
  /rss|atom|\.xml|\/api\/query/.test(url) ? 'feed' : /^https:\/\/(api|date)\./.test(url) ? 'json' : 'page';

/** The task with its examples, whose sources are pages of the site, and without tools, which the built-in model has none of. */
function build({ id, blanks, task }: Template) {
  const { tools: _tools, ...filled } = fillBlanks(task, new Map(blanks.map(({ key, example }) => [key, example])));
  const sources = (filled.sources ?? []).map((source) => {
    if (source.url === undefined) {
      site.set(`/search?${new URLSearchParams({ q: source.search ?? '', format: 'json' })}`, {
        type: 'application/json',
        body: '{"results":[{"title":"Acme launches","url":"https://example.com/a","content":"A new plan."}]}',
      });
      return source;
    }
    const path = `/${id}/${source.name}`;
    site.set(path, PAGES[findKind(source.url)]);
    return { ...source, url: `${site.url}${path}` };
  });
  return { ...filled, sources, status: 'paused' };
}

for (const language of ['en', 'pt-BR'] as const) {
  t.test(`Each template runs with the built-in model, which reads its sources (${language})`, async (t) => {
    await ctx.db.update(users).set({ language }).where(eq(users.id, alice.id));
    const { templates }: { templates: Template[] } = await get('/api/templates');
    for (const template of templates) {
      const { id, task } = template;
      const taskId = await postTask(app, alice, build(template));
      const url = `/api/tasks/${taskId}/execute`;
      const { executionId } = (await app.inject({ method: 'POST', url, headers: alice.headers })).json();
      await runDue(ctx);
      const { execution } = await get(`/api/executions/${executionId}`);
      t.equal(execution.status, 'completed', `${id}: ${execution.error}`);
      t.same(
        (execution.sources ?? []).map(({ status }: { status: string }) => status),
        (task.sources ?? []).map(() => 'new'),
        `${id} reads its sources`,
      );
      const { outputSchema } = task;
      t.same(
        Object.keys(execution.output ?? {}),
        Object.keys((outputSchema?.properties as object | undefined) ?? {}),
        `${id} has the fields of its answer`,
      );
      t.equal(execution.truncated, false, id);
    }
  });
}
