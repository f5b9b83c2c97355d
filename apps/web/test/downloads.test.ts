import { sql } from 'drizzle-orm';
import t from 'tap';
import { testContext } from '../../api/test/support/context.ts';
import { signUp } from '../../api/test/support/people.ts';
import { insertSample, SAMPLE_NOW } from '../../api/test/support/sample.ts';
import { insertActivity } from '../../api/test/support/sample-activity.ts';
import { insertEndedRuns, insertTask } from '../../api/test/support/task-rows.ts';
import { writeCsv } from '../src/http/csv.ts';
import { visit } from './support/visitor.ts';

const { app, ctx, clock } = await testContext(t);
clock.set(SAMPLE_NOW);
const alice = await signUp(app, { name: 'Alice', timezone: 'Europe/Berlin' });
const bob = await signUp(app, { name: 'Bob' });
await insertActivity(ctx, alice.id, await insertSample(ctx, alice.id));

/** Cells of each row, without the quotes. */
const readRows = (body: string) =>
  body
    .replace(/^\ufeff/, '')
    .trimEnd()
    .split('\r\n')
    .map((line) => line.match(/"(?:[^"]|"")*"|[^,]+|(?<=,|^)(?=,|$)/g)?.map((cell) => cell.replace(/^"|"$/g, '')));

async function download(url: string, person = alice) {
  const response = await app.inject({
    url,
    headers: { ...person.headers, accept: 'text/html', cookie: `local-session=${person.token}` },
  });
  return { response, rows: readRows(response.body) };
}

t.test('No cell is a formula, and each text is one cell', async (t) => {
  const cells = ['=1+1', ' +1', '@SUM(A1)', '-2', '\t=1', '＝1', 'a "b", c\nd', 'plain', 3.5, null] as const;
  async function* rows() {
    yield cells;
  }
  let written = '';
  for await (const piece of writeCsv(['Run'], rows())) written += piece;
  const texts = [
    `"'=1+1"`,
    `"' +1"`,
    `"'@SUM(A1)"`,
    `"'-2"`,
    `"'\t=1"`,
    `"'＝1"`,
    '"a ""b"", c\nd"',
    '"plain"',
    '3.5',
    '',
  ];
  t.equal(written, `\ufeff"Run"\r\n${texts.join(',')}\r\n`);
});

t.test('All runs of the list are one file, in the zone of the reader, and no one else gets them', async (t) => {
  const total = await ctx.db.execute(sql`select count(*)::int as total from executions where user_id = ${alice.id}`);
  const { response, rows } = await download('/executions.csv');
  t.match(response.headers, {
    'content-type': /^text\/csv; charset=utf-8/,
    'content-disposition': 'attachment; filename="carillon-runs.csv"',
  });
  t.equal(rows.length - 1, (total as unknown as { total: number }[])[0]?.total);
  t.ok(rows.length > 200, 'more than a page of the list has');
  t.match(rows[0]?.slice(0, 4), ['Run', 'Planned or asked for (Europe/Berlin)', 'Task', 'Outcome']);
  t.match(rows[1], [/^\d+$/, /^2026-03-24 1\d:00$/, /./, /./, '1', /^\d/, /^0\./]);
  t.equal((await download('/executions.csv', bob)).rows.length, 1);
  t.match(await app.inject({ url: '/executions.csv', headers: { accept: 'text/html' } }), { statusCode: 303 });
});

t.test('The filter of the list holds for the file, and its page has the link', async (t) => {
  const page = await visit(app, alice).open('/executions?outcome=failed&from=2026-03-01');
  const link =
    page.document.querySelector('a[href^="/executions.csv"]')?.getAttribute('href')?.replaceAll('&amp;', '&') ?? '';
  const { rows } = await download(link);
  t.ok(rows.length > 1);
  t.same([...new Set(rows.slice(1).map((row) => row?.[3]))], ['Failed']);
  const refused = await download('/executions.csv?from=yesterday');
  t.match(refused.response, { statusCode: 422, body: /<h1>Runs<\/h1>/ });
});

t.test('A name that would be a formula is a text', async (t) => {
  const person = await signUp(app);
  const id = await insertTask(ctx, person.id, { name: '=cmd|calc', nextExecutionAt: null });
  await insertEndedRuns(ctx, { taskId: id, userId: person.id, count: 1 });
  t.match((await download('/executions.csv', person)).rows[1]?.[2], "'=cmd|calc");
});

t.test('Usage of a month is one file by day, task and model', async (t) => {
  const page = await visit(app, alice).open('/usage');
  t.ok(page.document.querySelector('a[href="/usage.csv?month=2026-03"]'));
  const { response, rows } = await download('/usage.csv?month=2026-03');
  t.equal(response.headers['content-disposition'], 'attachment; filename="carillon-usage-2026-03.csv"');
  t.match(rows[0]?.slice(0, 5), ['Day (UTC)', 'Task', 'Model', 'Provider', 'Runs']);
  t.match(rows[1], [/^2026-03-\d\d$/, /./, /-2026-01$/]);
  t.ok(rows.some((row) => row?.[1] === 'Nightly error digest' && row[2] === 'large-2026-01' && Number(row[7]) > 0));
  t.ok(rows.some((row) => row?.[1] === 'Agent'));
  t.equal((await download('/usage.csv', bob)).rows.length, 1);
  t.equal((await download('/usage.csv?month=2019-13')).response.statusCode, 404);
});
