import t from 'tap';
import { assertNeedsSession } from '../support/access.ts';
import { testContext } from '../support/context.ts';
import { signUpAlice } from '../support/people.ts';
import { startProbeServer } from '../support/servers/probe-servers.ts';

const site = await startProbeServer(t, ({ url, headers }, response) => {
  if (url === '/secret')
    return response.writeHead(200, { 'content-type': 'text/plain' }).end(headers['x-key'] ?? 'none');
  if (url === '/long') return response.writeHead(200, { 'content-type': 'text/plain' }).end('a'.repeat(5000));
  if (url?.startsWith('/search')) {
    const results = [{ title: 'A bell', url: 'https://a.example/', content: `for ${url}` }];
    return response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ results }));
  }
  response.writeHead(200, { 'content-type': 'text/html' }).end('<title>Shop</title><h1>Bell</h1><b id=price>19 €</b>');
});
const base = `http://127.0.0.1:${site.port}`;
const env = { SOURCES_ALLOW: `127.0.0.1/32:${site.port}`, SEARCH_URL: base };
const { app } = await testContext(t, { env });
const alice = await signUpAlice(app);
const preview = (...sources: object[]) =>
  app.inject({ method: 'POST', url: '/api/tasks/preview-sources', headers: alice.headers, payload: { sources } });

t.test('A preview shows what the model would be given, in the order of the sources', async (t) => {
  const answer = await preview(
    { name: 'price', url: `${base}/`, select: '#price' },
    { name: 'page', url: `${base}/` },
    { name: 'long', url: `${base}/long` },
    { name: 'web', search: 'bells & chimes' },
    { name: 'missing', url: `${base}/`, select: '.nothing' },
  );
  t.equal(answer.statusCode, 200);
  const ok = { ok: true, message: null };
  t.same(answer.json(), {
    success: true,
    sources: [
      { name: 'price', ...ok, contentType: 'text/html', title: 'Shop', text: '19 €', bytes: 54 },
      { name: 'page', ...ok, contentType: 'text/html', title: 'Shop', text: 'Bell\n19 €', bytes: 54 },
      { name: 'long', ...ok, contentType: 'text/plain', title: null, text: 'a'.repeat(4000), bytes: 5000 },
      {
        name: 'web',
        ...ok,
        contentType: 'application/json',
        title: null,
        text: 'A bell\nhttps://a.example/\nfor /search?q=bells+%26+chimes&format=json',
        bytes: answer.json().sources[3].bytes,
      },
      {
        name: 'missing',
        ok: false,
        contentType: null,
        title: null,
        text: null,
        bytes: null,
        message: 'The source has nothing at its selection.',
      },
    ],
  });
});

t.test('Sources that no task could have are 400', async (t) => {
  const page = { name: 'page', url: `${base}/` };
  const wrong: object[][] = [
    [],
    [page, page],
    [{ name: 'Page', url: page.url }],
    [{ name: 'page' }],
    [{ name: 'page', url: 'ftp://a.example' }],
    [{ name: 'page', url: 'https://u:p@a.example' }],
    [{ ...page, search: 'x' }],
    [{ name: 'page', search: 'x', select: '#a' }],
    [{ name: 'page', search: 'x', secret: 'a' }],
    [{ name: 'page', search: ' ' }],
    [{ name: 'page', search: 'x'.repeat(201) }],
    [{ ...page, select: 'p[' }],
    [{ ...page, select: 'p:nonsense' }],
    [{ ...page, select: '/a~2' }],
    [{ ...page, select: '' }],
    [{ ...page, secret: 'unknown' }],
    [{ ...page, other: 1 }],
    Array.from({ length: 6 }, (_, at) => ({ name: `p${at}`, url: page.url })),
  ];
  for (const sources of wrong) {
    const answer = await preview(...sources);
    t.same([answer.statusCode, Object.keys(answer.json().details ?? {})], [400, ['sources']], JSON.stringify(sources));
  }
});

t.test('A secret is sent to its host and masked, and fails at another host and once it is deleted', async (t) => {
  const host = `127.0.0.1:${site.port}`;
  const create = (given: object) =>
    app.inject({
      method: 'POST',
      url: '/api/secrets',
      headers: alice.headers,
      payload: { name: 'key', host, header: 'X-Key', value: 'Hidden123456', ...given },
    });
  await create({ name: 'other', host: 'a.example' });
  const { secret } = (await create({})).json();
  const [read] = (await preview({ name: 'page', url: `${base}/secret`, secret: 'key' })).json().sources;
  t.match(read, { ok: true, text: '[secret]' });
  const { secrets } = (await app.inject({ url: '/api/secrets', headers: alice.headers })).json();
  t.ok(secrets.find(({ name }: { name: string }) => name === 'key').lastUsedAt);
  const refused = await preview({ name: 'page', url: `${base}/secret`, secret: 'other' });
  t.same(refused.json().details, { sources: ['item 1 names the secret other, which is for a.example'] });
  await app.inject({ method: 'DELETE', url: `/api/secrets/${secret.id}`, headers: alice.headers });
  t.equal((await preview({ name: 'page', url: `${base}/secret`, secret: 'key' })).statusCode, 400);
});

t.test('Without SEARCH_URL a search is 400', async (t) => {
  const { app } = await testContext(t);
  const { headers } = await signUpAlice(app);
  const payload = { sources: [{ name: 'web', search: 'bells' }] };
  const answer = await app.inject({ method: 'POST', url: '/api/tasks/preview-sources', headers, payload });
  t.same(answer.json().details, { sources: ['item 1 cannot search: the operator has set no search engine'] });
});

t.test('Sources are previewed 10 times a minute', async (t) => {
  const { app } = await testContext(t, { env: { ...env, RATE_LIMIT_MULTIPLIER: '1' } });
  const { headers } = await signUpAlice(app);
  const payload = { sources: [{ name: 'price', url: `${base}/` }] };
  const statuses: number[] = [];
  for (let time = 0; time < 11; time += 1) {
    const answer = await app.inject({ method: 'POST', url: '/api/tasks/preview-sources', headers, payload });
    statuses.push(answer.statusCode);
  }
  t.same(statuses, [...Array(10).fill(200), 429]);
});

t.test('A preview needs a session', async (t) => {
  await assertNeedsSession(t, app, {
    method: 'POST',
    url: '/api/tasks/preview-sources',
    payload: { sources: [{ name: 'a', url: base }] },
  });
});
