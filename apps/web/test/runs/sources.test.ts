import { eq } from 'drizzle-orm';
import t from 'tap';
import { executions, usageRecords } from '../../../../packages/db/src/index.ts';
import { START, testContext } from '../../../api/test/support/context.ts';
import { signUp } from '../../../api/test/support/people.ts';
import { insertTask, readRun } from '../../../api/test/support/task-rows.ts';
import { answer, createModel, runAll } from '../support/runs.ts';
import { visit } from '../support/visitor.ts';

const model = createModel();
const { app, ctx, clock } = await testContext(t, { ai: model.ai });
const HOSTILE = '"><script>alert(1)</script>‮{{7*7}}';

interface Found {
  citations: { url: string; title: string }[];
  toolUses: number;
  toolCostUsd: number;
}

/** A run with these sources, which took place now. */
async function insertRun({ citations, toolUses, toolCostUsd }: Found) {
  clock.set(START);
  const alice = await signUp(app, { timezone: 'Europe/Berlin' });
  const task = await insertTask(ctx, alice.id, { name: 'Bin price' });
  await runAll(ctx, model, answer('The bin costs 59 €.'));
  const { id } = await readRun(ctx, task);
  await ctx.db.update(executions).set({ citations, toolUses }).where(eq(executions.id, id));
  await ctx.db.update(usageRecords).set({ toolUses, toolCostUsd }).where(eq(usageRecords.executionId, id));
  return { id, visitor: visit(app, alice) };
}

t.test('A run lists its sources with their hosts, and what its tools cost', async (t) => {
  const citations = [
    { url: 'https://shop.example.com/bin?size=40&ref=a', title: 'Compost bin 40 L' },
    { url: 'http://garden.example:8080/', title: 'garden.example:8080' },
  ];
  const { id, visitor } = await insertRun({ citations, toolUses: 3, toolCostUsd: 0.03 });
  const page = await visitor.open(`/executions/${id}`);
  const sources = page.document.querySelectorAll('.sources > li');
  t.same(
    sources.map((source) => source.text.trim()),
    ['Compost bin 40 Lshop.example.com', 'garden.example:8080'],
  );
  const link = sources[0]?.querySelector('a');
  t.equal(link?.getAttribute('href')?.replaceAll('&amp;', '&'), citations[0]?.url);
  t.equal(link?.getAttribute('rel'), 'noopener noreferrer nofollow');
  t.match(page.text, /Sources ?2 pages cited/);
  t.match(page.text, /Web tools ?3 uses, \$0\.03\d? of the cost/);
  t.match(
    (await visitor.open(`/executions/${id}/text`)).response.body,
    /SOURCES\n1\. Compost bin 40 L\n {3}https:\/\/shop/,
  );
  t.match((await visitor.open('/executions')).text, /2 sources/);
  t.match((await visitor.open('/usage')).text, /Web tools ?3 ?searches and pages read, \$0\.03\d? of the cost/);
});

t.test('A provider that reports one sum, and a run without tools, say no more than is known', async (t) => {
  const counted = await insertRun({ citations: [], toolUses: 1, toolCostUsd: 0 });
  const page = await counted.visitor.open(`/executions/${counted.id}`);
  t.match(page.text, /Web tools ?1 use ?(?:Used ?Version ?\d+)?Started by/);
  t.notOk(page.document.querySelector('.sources'));
  const { id, visitor } = await insertRun({ citations: [], toolUses: 0, toolCostUsd: 0 });
  t.notMatch((await visitor.open(`/executions/${id}`)).text, /Web tools|Sources/);
  t.notMatch((await visitor.open('/executions')).text, /source/);
  t.notMatch((await visitor.open('/usage')).text, /Web tools/);
});

t.test('Text of strangers stays text, and only addresses of the web are links', async (t) => {
  const addresses = ['javascript:alert(1)', 'data:text/html,x', 'no address', '//evil.example'];
  const citations = [
    { url: `https://evil.example/${HOSTILE}`, title: HOSTILE },
    ...addresses.map((url) => ({ url, title: 'Odd' })),
  ];
  const { id, visitor } = await insertRun({ citations, toolUses: 1, toolCostUsd: 0 });
  const page = await visitor.open(`/executions/${id}`);
  t.equal(page.document.querySelectorAll('main script').length, 0);
  t.notMatch(page.response.body, /<script>alert|href="(?:javascript|data|\/\/)/);
  const links = page.document.querySelectorAll('.sources a');
  t.equal(links.length, 1);
  t.equal(links[0]?.querySelector('bdi')?.text, HOSTILE, 'its direction of writing ends with the title');
});

t.test('A long list is folded, and goes on counting', async (t) => {
  const citations = Array.from({ length: 50 }, (_, at) => ({ url: `https://n${at}.example/`, title: `News ${at}` }));
  const { id, visitor } = await insertRun({ citations, toolUses: 20, toolCostUsd: 0 });
  const { document } = await visitor.open(`/executions/${id}`);
  const [shown, folded] = document.querySelectorAll('.sources');
  t.same([shown?.querySelectorAll('li').length, folded?.querySelectorAll('li').length], [10, 40]);
  t.equal(folded?.getAttribute('start'), '11');
  t.equal(document.querySelector('details:has(.sources) summary')?.text, '40 more sources');
});
