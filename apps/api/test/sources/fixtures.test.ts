import t from 'tap';
import { startProbeServer } from '../support/servers/probe-servers.ts';
import { createTestReader } from '../support/sources.ts';
import { FIXTURES } from './fixtures.ts';

const PAGES = Object.entries(FIXTURES);

async function startSite(t: Parameters<typeof startProbeServer>[0]) {
  const site = await startProbeServer(t, ({ url }, response) => {
    const fixture = FIXTURES[decodeURIComponent(new URL(`http://a${url}`).pathname.slice(1))];
    if (!fixture) return response.writeHead(404).end();
    const { type, body } = fixture;
    response.writeHead(200, type === null ? {} : { 'content-type': type }).end(body);
  });
  const base = `http://127.0.0.1:${site.port}`;
  return { base, reader: createTestReader(t, { site, env: { SEARCH_URL: base } }) };
}

t.test(`${PAGES.length} pages, feeds, documents and searches are read as people read them`, async (t) => {
  const { base, reader } = await startSite(t);
  t.ok(PAGES.length >= 40);
  for (const [name, { select, title, has = [], lacks = [], text, problem, ids }] of PAGES) {
    const source = name === 'search' ? { search: 'bells' } : { url: `${base}/${encodeURIComponent(name)}`, select };
    const result = await reader.read(source);
    if (problem !== undefined) {
      t.match(result, { status: 'failed', message: problem }, name);
      continue;
    }
    t.match(result, { status: 'ok' }, name);
    if (result.status !== 'ok') continue;
    if (text !== undefined) t.equal(result.text, text, name);
    if (title !== undefined) t.equal(result.title, title, name);
    for (const part of has) t.ok(result.text.includes(part), `${name}: ${part}\n${result.text.slice(0, 600)}`);
    for (const part of lacks) t.notOk(result.text.includes(part), `${name} without ${part}`);
    if (ids) t.strictSame(result.entries?.map(({ id }) => id).slice(0, ids.length), ids, name);
  }
});

t.test('The text of a page stays the same while the page does', async (t) => {
  const { base, reader } = await startSite(t);
  for (const name of ['news', 'shop', 'atom', 'api']) {
    const [first, second] = [
      await reader.read({ url: `${base}/${name}` }),
      await reader.read({ url: `${base}/${name}` }),
    ];
    t.strictSame(second, first, name);
  }
});
