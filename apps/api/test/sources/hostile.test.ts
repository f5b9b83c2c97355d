import { monitorEventLoopDelay } from 'node:perf_hooks';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import t from 'tap';
import { startProbeServer, startRawProbeServer } from '../support/servers/probe-servers.ts';
import { createTestReader } from '../support/sources.ts';

const MIB = 1024 * 1024;
const TOO_LARGE = 'The source is larger than 2 MiB.';
const TOO_COMPLEX = 'The source takes too long to read.';

interface Page {
  type?: string;
  encoding?: string;
  body: string | Buffer;
}

/** A site with pages by their paths, and a reader that reaches it. */
async function startSite(t: Parameters<typeof startProbeServer>[0], pages: Record<string, Page>) {
  const site = await startProbeServer(t, ({ url }, response) => {
    const { type = 'text/html', encoding, body } = pages[url?.slice(1) ?? ''] ?? { body: '' };
    response.writeHead(200, { 'content-type': type, ...(encoding && { 'content-encoding': encoding }) }).end(body);
  });
  const reader = createTestReader(t, { site });
  const read = (path: string, select?: string) =>
    reader.read({ url: `http://127.0.0.1:${site.port}/${path}`, ...(select !== undefined && { select }) });
  return { read };
}

t.test('A bomb of any packing costs 2 MiB, and what is not whole is failed', async (t) => {
  const zeros = Buffer.alloc(64 * MIB, '<p>');
  const text = Buffer.from('text/plain');
  const gzip = gzipSync(zeros);
  const { read } = await startSite(t, {
    gzip: { encoding: 'gzip', body: gzip },
    brotli: { encoding: 'br', body: brotliCompressSync(zeros) },
    deflate: { encoding: 'deflate', body: deflateSync(zeros) },
    raw: { encoding: 'deflate', body: deflateRawSync(zeros) },
    members: { encoding: 'gzip', body: Buffer.concat(Array(40).fill(gzipSync(Buffer.alloc(MIB)))) },
    twice: { encoding: 'gzip, gzip', body: gzipSync(gzip) },
    zstd: { encoding: 'zstd', body: text },
    broken: { encoding: 'gzip', body: 'not packed' },
    cut: { encoding: 'gzip', body: gzipSync(Buffer.from('<p>'.repeat(1000))).subarray(0, -12) },
    plain: { body: Buffer.alloc(2 * MIB + 1, 'a') },
    feed: { type: 'application/rss+xml', body: `<rss><channel>${'<item/>'.repeat(1.5 * MIB)}</channel></rss>` },
  });
  const unknown = 'The compression of the source is unknown or broken.';
  for (const path of ['gzip', 'brotli', 'deflate', 'raw', 'members', 'plain', 'feed']) {
    t.match(await read(path), { status: 'failed', httpStatus: 200, message: TOO_LARGE }, path);
  }
  for (const path of ['twice', 'zstd', 'broken', 'cut']) {
    t.match(await read(path), { status: 'failed', httpStatus: 200, message: unknown }, path);
  }
  t.ok(process.memoryUsage().rss < 1024 * MIB);
});

t.test('A page that is hard to read costs its thread 250 ms, and the main thread nothing', async (t) => {
  const nested = (tag: string, count: number) => `<${tag}>`.repeat(count);
  const laughs = Array.from({ length: 12 }, (_, at) => `<!ENTITY l${at + 1} "${`&l${at};`.repeat(10)}">`).join('');
  const rss = 'application/rss+xml';
  const pages: Record<string, Page> = {
    nodes: { body: `<p>${'<i>x</i>'.repeat(100_000)}` },
    deep: { body: `${nested('div', 100_000)}deep` },
    formatting: { body: `${nested('b', 20_000)}${nested('p', 20_000)}x` },
    adoption: { body: `${'<a><b><i><p>'.repeat(40_000)}</b></i></a>` },
    selects: { body: nested('select><option', 100_000) },
    attributes: { body: `<p ${Array.from({ length: 150_000 }, (_, at) => `a${at}=1`).join(' ')}>x` },
    comments: { body: '<!--'.repeat(500_000) },
    pieces: { body: `<rss ${'<!-- a -->'.repeat(200_000)}` },
    laughs: {
      type: rss,
      body: `<?xml version="1.0"?><!DOCTYPE rss [<!ENTITY l0 "lol">${laughs}]><rss><channel><title>&l12;</title><item><title>&l12;</title></item></channel></rss>`,
    },
    external: {
      type: rss,
      body: '<!DOCTYPE rss [<!ENTITY x SYSTEM "file:///etc/passwd">]><rss><channel><item><title>a &x;</title></item></channel></rss>',
    },
    feed: { type: rss, body: `<rss><channel>${'<item><title>a</title></item>'.repeat(70_000)}</channel></rss>` },
    nestedFeed: { type: rss, body: `<rss>${nested('channel', 200_000)}` },
    json: { type: 'application/json', body: `${'['.repeat(MIB)}1${']'.repeat(MIB - 2)}` },
    lines: { body: '<br>'.repeat(500_000) },
  };
  const { read } = await startSite(t, pages);
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  for (const path of Object.keys(pages)) {
    const start = performance.now();
    const result = await read(path, path === 'json' ? '/0/0' : undefined);
    t.match(result, { status: /^(ok|failed)$/ }, path);
    if (result.status === 'failed') t.match(result.message, /takes too long|malformed|nothing at its selection/, path);
    if (result.status === 'ok') t.ok(result.text.length <= 2 * MIB, path);
    t.ok(performance.now() - start < 5000, `${path} took ${Math.round(performance.now() - start)} ms`);
    t.notMatch(JSON.stringify(result), /root:|lollol/, path);
  }
  delay.disable();
  t.ok(delay.max < 1e9, `${delay.max / 1e6} ms`);
});

t.test('A selector that is hard to match costs its thread 250 ms', async (t) => {
  const body = `<main>${'<div class="a b"><p>x<i>y</i></p>'.repeat(15_000)}`;
  const { read } = await startSite(t, { page: { body }, small: { body: '<p id=a>fine' } });
  const selectors = [
    'div div div div div div i:not(div div div div div p ~ i)',
    'div:has(~ div i):not(:has(b))',
    `${'* '.repeat(200)}b`,
    `${':not('.repeat(90)}b${')'.repeat(90)} ~ b`,
    '[class*="a"] ~ [class*="b"] ~ [class^="a"] ~ b',
  ];
  for (const select of selectors) {
    const start = performance.now();
    const result = await read('page', select);
    t.match(result, { status: /^(ok|failed)$/ }, select);
    t.ok(performance.now() - start < 5000);
    t.match(await read('small', '#a'), { status: 'ok', text: 'fine' }, 'the next page is read');
  }
});

t.test('Five bombs at once delay another page, and neither fail it nor end the process', async (t) => {
  const { read } = await startSite(t, {
    bomb: { body: '<a>'.repeat(600_000) },
    page: { body: '<p>fine' },
  });
  const bombs = Array.from({ length: 5 }, () => read('bomb'));
  t.match(await read('page'), { status: 'ok', text: 'fine' });
  for (const bomb of await Promise.all(bombs)) t.match(bomb, { status: 'failed', message: TOO_COMPLEX });
});

t.test('Headers of a megabyte, slow bytes and endless answers end in time', async (t) => {
  const headers = await startRawProbeServer(t, (socket) => {
    socket.write(`HTTP/1.1 200 OK\r\nX-Long: ${'a'.repeat(MIB)}\r\n\r\nfine`);
  });
  const slowHeaders = await startRawProbeServer(t, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\n');
    const timer = setInterval(() => socket.write('X: y\r\n'), 50);
    socket.on('close', () => clearInterval(timer));
  });
  const slow = await startProbeServer(t, (_, response) => {
    response.writeHead(200, { 'content-type': 'text/plain' });
    const timer = setInterval(() => response.write('a'), 50);
    response.on('close', () => clearInterval(timer));
  });
  const slowRedirects = await startProbeServer(t, (_, response) => {
    setTimeout(() => response.writeHead(302, { location: '/' }).end(), 300);
  });
  const endless = await startProbeServer(t, (_, response) => {
    response.writeHead(200, { 'content-type': 'text/plain' });
    const write = () => {
      while (response.writable && response.write('a'.repeat(65_536)));
    };
    response.on('drain', write);
    write();
  });
  const short = await startRawProbeServer(t, (socket) => {
    socket.end('HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 100\r\n\r\nonly this');
  });
  const ports = [headers, slowHeaders, slow, slowRedirects, endless, short].map(({ port }) => `127.0.0.1/32:${port}`);
  const reader = createTestReader(t, { env: { SOURCES_ALLOW: ports.join(',') }, timeoutMs: 1000 });
  const read = async ({ port }: { port: number }) => {
    const start = performance.now();
    const result = await reader.read({ url: `http://127.0.0.1:${port}/` });
    t.ok(performance.now() - start < 3000);
    return result.status === 'failed' ? result.message : result.status;
  };
  const late = 'The source did not answer within 1 s.';
  t.match(await read(headers), /could not be reached/);
  t.equal(await read(slowHeaders), late);
  t.equal(await read(slow), late);
  t.equal(await read(slowRedirects), late);
  t.equal(await read(endless), TOO_LARGE);
  t.equal(await read(short), 'The answer of the source is not complete.');
});
