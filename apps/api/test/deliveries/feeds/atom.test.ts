import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { executions, queryRows } from '@carillon/db';
import { sql } from 'drizzle-orm';
import t, { type Test } from 'tap';
import { loadConfig } from '../../../src/lib/config/config.ts';
import { MAX_RESULT_LENGTH, selectFeed } from '../../../src/product/deliveries/feeds/read.ts';
import { renderFeed } from '../../../src/product/deliveries/feeds/render.ts';
import type { ChannelMessage } from '../../../src/product/deliveries/messages/message.ts';
import { testContext } from '../../support/context.ts';
import { signUpAlice } from '../../support/people.ts';
import { insertTask } from '../../support/task-rows.ts';
import { attack, HOSTILE_MESSAGES } from '../messages/support/hostile-answers.ts';
import { insertRun, parseFeed, postFeed, readEntities } from './support.ts';

const isInstalled = spawnSync('xmllint', ['--version']).status === 0;
if (!isInstalled && process.env.REQUIRE_PROGRAMS)
  throw new Error('REQUIRE_PROGRAMS is set, but there is no xmllint on the path.');
const skip = isInstalled ? false : 'needs xmllint (apt-get install libxml2-utils)';

const SCHEMA = fileURLToPath(new URL('atom.rng', import.meta.url));
const at = new Date('2026-11-20T10:00:00.000Z');
const config = loadConfig({ APP_URL: 'https://carillon.example', NODE_ENV: 'test' });

/** Returns the messages of the validator about each document that is invalid. */
function validate(t: Test, documents: readonly string[]): string[] {
  const folder = t.testdir();
  mkdirSync(folder, { recursive: true });
  const files = documents.map((text, at) => {
    const file = join(folder, `${at}.xml`);
    writeFileSync(file, text);
    return file;
  });
  const { stderr } = spawnSync('xmllint', ['--huge', '--nonet', '--noout', '--relaxng', SCHEMA, ...files], {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  return stderr.split('\n').filter((line) => line !== '' && !line.endsWith(' validates'));
}

/** What the schema cannot express. */
function checkRules(t: Test, xml: string): void {
  const { entries, ...feed } = parseFeed(xml);
  const ids = [feed, ...entries].map(({ id }) => id);
  t.equal(new Set(ids).size, ids.length, 'each id is there once');
  for (const { id, link, title } of [feed, ...entries]) {
    t.ok(new URL(id).host && new URL(link).host, 'ids and links are absolute');
    t.not(title.trim(), '');
  }
  const instants = entries.map(({ updated }) => updated);
  t.same(instants, instants.toSorted().toReversed(), 'the newest is first');
  if (instants.length > 0) t.equal(feed.updated, instants[0], 'the feed is as new as its newest entry');
  t.match(xml, /<feed [^>]*>.*?<author><name>[^<]+<\/name><\/author>.*?<entry>|<author>/s);
}

/** A feed with a run for each message; the first one has the id 7. */
function renderMessages(messages: readonly ChannelMessage[]): Promise<string> {
  const runs = messages.map(({ title }, index) => ({ id: 7 + index, taskName: title || 'Empty', completedAt: at }));
  const results = messages.map(
    ({ text, markdown, changes, citations }, index) =>
      [
        7 + index,
        { text: markdown ?? text ?? '', isJson: index % 5 === 4, isCut: index % 3 === 1, changes, citations },
      ] as const,
  );
  const taskName = messages[0]?.title ?? '';
  return renderFeed(
    { config },
    { id: '', userId: 1, language: 'en', taskId: 1, taskName, createdAt: at, runs },
    new Map(results),
  );
}

const rendered = new Map(HOSTILE_MESSAGES.map(({ message }) => [message, renderMessages([message])]));

t.test('The validator finds what is wrong', { skip }, async (t) => {
  const xml = await renderMessages([HOSTILE_MESSAGES[0]!.message]);
  const broken = [
    xml.replace(/<updated>[^<]+/, '<updated>today'),
    xml.replace(/<id>.*?<\/id>/s, ''),
    xml.replace('<entry>', '<entry><title>Twice</title>'),
    xml.replace('type="html"', 'class="html"'),
    xml.replace('</feed>', '\u0001</feed>'),
    xml.replace('http://www.w3.org/2005/Atom', 'http://example.com/'),
  ];
  t.same(validate(t, [xml]), []);
  for (const document of broken) t.not(validate(t, [document]).length, 0, document.slice(0, 300));
});

t.test('A feed is valid Atom whatever tasks, answers and changes contain', { skip }, async (t) => {
  const documents = await Promise.all([
    renderMessages([]),
    ...rendered.values(),
    renderMessages(HOSTILE_MESSAGES.slice(0, 50).map(({ message }) => message)),
  ]);
  t.same(validate(t, documents).slice(0, 20), [], `${documents.length} feeds`);
});

t.test('No answer masks a link, breaks the markup or is longer than its limit', async (t) => {
  await attack(t, {
    render: (message) => rendered.get(message) ?? renderMessages([message]),
    measure: (xml) => [{ what: 'entry', size: xml.length, limit: 300_000 }],
    findMentions: () => [],
    findLinks: (xml) =>
      [...contentOf(xml).matchAll(/<a href="(.*?)" rel="noopener noreferrer nofollow">(.*?)<\/a>/gs)]
        .map(([, href = '', text = '']) => ({ href: readEntities(href), text: readEntities(text) }))
        // A mailbox is shown by its name.
        .filter(({ href, text }) => !href.startsWith('mailto:') || !text.includes(new URL(href).pathname)),
    findBroken: (xml) => findBrokenHtml(contentOf(xml)),
  });
});

const contentOf = (xml: string) => parseFeed(xml).entries[0]?.content ?? '';

const KNOWN = /^(p|h[2-6]|pre|code|blockquote|[uo]l|li|table|t[rhd]|strong|em|del|a)$/;

/** Tags that are not ours, not closed, or in the wrong order, and characters that no entity stands for. */
function findBrokenHtml(html: string): string[] {
  const open: string[] = [];
  const broken: string[] = [];
  for (const [tag, slash, name = '', attributes] of html.matchAll(/<(\/?)([^\s>]*)([^>]*)>/g)) {
    if (name === 'br' || name === 'hr') continue;
    const isOurs = KNOWN.test(name) && /^( (href|start|rel)="[^"]*")*$/.test(attributes ?? '');
    if (!isOurs || (slash && open.pop() !== name)) broken.push(tag);
    if (!slash) open.push(name);
  }
  const bare = html.replaceAll(/<[^>]*>|&(?:amp|lt|gt|quot|#39);/g, '').match(/[<>&]/g) ?? [];
  return [...broken, ...open, ...bare];
}

t.test('A long answer is cut between characters, with a link to the run', async (t) => {
  const family = '👨‍👩‍👧';
  for (const text of [family.repeat(5000), `\`\`\`\n${'code & '.repeat(5000)}`, 'x'.repeat(MAX_RESULT_LENGTH + 1)]) {
    const xml = await renderMessages([{ ...HOSTILE_MESSAGES[0]!.message, title: 'Long', markdown: text, changes: [] }]);
    const content = contentOf(xml);
    t.match(
      content,
      /<p>… \(<a href="https:\/\/carillon\.example\/executions\/7" rel="[a-z ]+">continues in Carillon<\/a>\)<\/p>$/,
    );
    t.ok(readEntities(content).length < MAX_RESULT_LENGTH + 200);
    t.same(findBrokenHtml(content), []);
    t.notMatch(content, /\u200d</);
  }
  const whole = await renderMessages([{ ...HOSTILE_MESSAGES[0]!.message, markdown: 'x'.repeat(MAX_RESULT_LENGTH) }]);
  t.notMatch(contentOf(whole), /continues in Carillon/);
});

t.test('The newest 50 results are found by the index, however many runs there are', async (t) => {
  const { app, ctx } = await testContext(t);
  const alice = await signUpAlice(app);
  const [taskId, failing, small] = [
    await insertTask(ctx, alice.id),
    await insertTask(ctx, alice.id),
    await insertTask(ctx, alice.id),
  ];
  await insertRun(ctx, alice, small);
  const now = ctx.now().toISOString();
  const insertMany = (id: number, count: number, status: string, code: string | null) =>
    ctx.db.execute(sql`
      insert into executions (task_id, user_id, status, trigger, run_at, created_at, completed_at, result, error_code)
      select ${id}::int, ${alice.id}::int, ${status}, 'manual', ${now}, ${now}::timestamptz + n * interval '1 s',
        ${now}::timestamptz + n * interval '1 s', 'Done.', ${code} from generate_series(1, ${count}::int) n`);
  await insertMany(taskId, 5500, 'completed', null);
  await insertMany(failing, 5500, 'failed', 'TIMEOUT');
  await ctx.db.execute('analyze executions');
  for (const [what, id, entries, maximum] of [
    ['a task with many results', taskId, 50, 50],
    ['a task with one result', small, 1, 1],
    ['a task that has always failed', failing, 0, 5000],
    ['the account, whose last runs have failed', undefined, 0, 5000],
  ] as const) {
    const url = await postFeed(app, alice, id);
    const secret = url.slice('/feeds/'.length, -'.atom'.length);
    const [explained] = await queryRows<{ 'QUERY PLAN': { Plan: Plan }[] }>(
      ctx.db,
      sql`explain (analyze, timing off, format json) ${selectFeed(secret, ctx.now())}`,
    );
    const scans = listScans(explained!['QUERY PLAN'][0]!.Plan);
    t.ok(
      scans.every((scan) => scan['Node Type'].startsWith('Index')),
      `${what}: ${scans.map((scan) => scan['Node Type'])}`,
    );
    const read = scans.reduce((sum, scan) => sum + scan['Actual Rows'] * scan['Actual Loops'], 0);
    t.ok(read <= maximum, `${what}: ${read} rows`);
    const answer = await app.inject(url);
    const feed = parseFeed(answer.body);
    t.equal(feed.entries.length, entries, what);
    checkRules(t, answer.body);
    if (isInstalled) t.same(validate(t, [answer.body]), []);
  }
  t.equal(await ctx.db.$count(executions), 11_001);
});

interface Plan {
  'Node Type': string;
  'Relation Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  Plans?: Plan[];
}

/** The scans of executions. */
const listScans = (plan: Plan): Plan[] => [
  ...(plan['Relation Name'] === 'executions' ? [plan] : []),
  ...(plan.Plans ?? []).flatMap(listScans),
];
