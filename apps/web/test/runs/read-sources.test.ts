import t from 'tap';
import { START, testContext } from '../../../api/test/support/context.ts';
import { signUp } from '../../../api/test/support/people.ts';
import { startPageServer } from '../../../api/test/support/servers/page-server.ts';
import { insertWatch, minutes, readSourceRuns } from '../../../api/test/support/source-tasks.ts';
import { runDue } from '../../../api/test/support/tasks.ts';
import { visit } from '../support/visitor.ts';

const site = await startPageServer();
const { app, ctx, clock } = await testContext(t, { env: { SOURCES_ALLOW: '127.0.0.1/32' } });
t.teardown(site.close);
const alice = await signUp(app, { timezone: 'UTC' });
const visitor = visit(app, alice);

t.test(
  'A run shows what it has read, with state and link, and its task what unchanged sources have saved',
  async (t) => {
    site.set('/a', { body: 'Text of a.' });
    site.set('/b', { body: 'Text of b.' });
    const sources = ['a', 'b'].map((name) => ({ name, url: `${site.url}/${name}` }));
    const task = await insertWatch(ctx, alice.id, '', { sources });
    await runDue(ctx);
    clock.set(minutes(1));
    await runDue(ctx);
    site.set('/a', { status: 500 });
    site.set('/b', { body: 'Other text of b.' });
    clock.set(minutes(2));
    await runDue(ctx);
    clock.set(START);
    const runs = await readSourceRuns(ctx, task);
    t.equal(runs.length, 2);
    const page = await visitor.open(`/executions/${runs[1]?.id}`);
    t.match(page.text, /Read before the answer\s*a\s*Failed/);
    t.match(page.text, /answered 500.*The run had its text of .*10:00/);
    t.match(page.text, /b\s*New/);
    t.match(page.response.body, `<a href="${site.url}/b" rel="noopener noreferrer nofollow">`);
    const shown = await visitor.open(`/tasks/${task}`);
    t.match(shown.text, /1 run left out this month because no source had changed/);
    t.match(shown.text, /1 unchanged/);
    t.match((await visitor.open('/usage')).text, /Runs saved\s*1/);
  },
);
