import t from 'tap';
import { testEngine } from '../../support/engine.ts';
import { startPageServer } from '../../support/servers/page-server.ts';
import { insertWatch, minutes, readFates, readSourceRuns } from '../../support/source-tasks.ts';

const site = await startPageServer();
const { ctx, ai, alice, clock, runDue } = await testEngine(t, { SOURCES_ALLOW: '127.0.0.1/32' });
t.teardown(site.close);

/** Entries `from` to `to`, the newest first. */
const buildFeed = (from: number, to: number) => {
  const entries = Array.from({ length: to - from + 1 }, (_, at) => to - at).map(
    (n) =>
      `<entry><id>urn:e:${n}</id><title>Entry ${n}.</title><updated>2026-11-${String(1 + (n % 28)).padStart(2, '0')}T00:00:00Z</updated><link href="https://example.com/${n}"/><content>Text ${n}</content></entry>`,
  );
  return `<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom"><title>Releases</title><id>urn:f</id><updated>2026-11-20T00:00:00Z</updated>${entries.join('')}</feed>`;
};
const setFeed = (from: number, to: number, etag?: string) =>
  site.set('/feed', { body: buildFeed(from, to), type: 'application/atom+xml', ...(etag && { etag }) });

async function runAt(t: Parameters<typeof runDue>[0], minute: number) {
  clock.set(minutes(minute));
  await runDue(t);
}

const listSent = (prompt = '') => [...prompt.matchAll(/Entry (\d+)\./g)].map(([, n]) => Number(n));
const lastPrompt = async (task: number) => (await readSourceRuns(ctx, task)).at(-1)?.request?.prompt;

t.test('A run has the entries that are new since the last completed run, the first one ten', async (t) => {
  setFeed(1, 15);
  const task = await insertWatch(ctx, alice().id, `${site.url}/feed`);
  await runAt(t, 0);
  t.equal(listSent(await lastPrompt(task)).length, 10);
  await runAt(t, 1);
  setFeed(1, 17);
  await runAt(t, 2);
  t.strictSame(listSent(await lastPrompt(task)).sort(), [16, 17]);
  await runAt(t, 3);
  t.strictSame(await readFates(ctx, task), ['ran', 'unchanged', 'ran', 'unchanged']);
});

t.test('A run that fails has not read the entries: the next one has them again', async (t) => {
  setFeed(1, 3);
  const task = await insertWatch(ctx, alice().id, `${site.url}/feed`, { maxRetries: 0 });
  await runAt(t, 0);
  setFeed(1, 4, '"4"');
  ai.answer(() => ({ status: 400 }));
  await runAt(t, 1);
  ai.answer(() => ({}));
  await runAt(t, 2);
  t.strictSame(listSent(await lastPrompt(task)), [4]);
  await runAt(t, 3);
  await runAt(t, 4);
  t.strictSame(await readFates(ctx, task), ['ran', 'ran', 'ran', 'unchanged', 'unchanged']);
});

t.test('Entries that leave a feed, and come back, are not new', async (t) => {
  setFeed(1, 5);
  const task = await insertWatch(ctx, alice().id, `${site.url}/feed`);
  await runAt(t, 0);
  setFeed(3, 6);
  await runAt(t, 1);
  setFeed(1, 6);
  await runAt(t, 2);
  t.strictSame(await readFates(ctx, task), ['ran', 'ran', 'unchanged']);
});
