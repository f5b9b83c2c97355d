import { createServer as createTlsServer } from 'node:https';
import type { Socket } from 'node:net';
import { setTimeout, setImmediate as turn } from 'node:timers/promises';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { gzipSync } from 'node:zlib';
import t from 'tap';
import { PRODUCTION_ENV } from '../support/production.ts';
import { AUTHORITY, CERTIFICATE, KEY } from '../support/servers/certificate.ts';
import {
  buildPost,
  createFakeLookup,
  createTestHttpClient,
  type ProbeServer,
  startListening,
  startProbeServer,
  startRawProbeServer,
} from '../support/servers/probe-servers.ts';

const addressOf = ({ port }: ProbeServer) => `http://127.0.0.1:${port}/hook`;
const late = { kind: 'timeout', status: null, error: 'The receiver did not answer within 0.2 s.' };
const broken = {
  kind: 'connection',
  status: null,
  error: 'No answer: there was no connection to the receiver, or it broke. It may be down, or its certificate invalid.',
};
const delivered = { kind: 'answered', status: 200, error: null };

/** Writes repeatedly until the other side disconnects. */
function drip(socket: Socket, text: string, everyMs = 10): void {
  const timer = setInterval(() => socket.write(text), everyMs);
  socket.once('close', () => clearInterval(timer));
}

t.test('A request arrives byte for byte and asks for an uncompressed answer', async (t) => {
  const seen: unknown[] = [];
  const receiver = await startProbeServer(t, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      seen.push({ ...request.headers, method: request.method, url: request.url, body: Buffer.concat(chunks) });
      response.writeHead(204).end();
    });
  });
  const body = Buffer.from([0, 255, 13, 10, 0xc3, 0x28]);
  const url = `http://127.0.0.1:${receiver.port}/a%20b?c=d&e#part`;
  const outcome = await createTestHttpClient(t).post({
    url,
    body,
    headers: { 'x-webhook-signature': 'abc', 'user-agent': 'test' },
  });
  t.strictSame(outcome, { kind: 'answered', status: 204, error: null });
  t.match(seen, [
    {
      method: 'POST',
      url: '/a%20b?c=d&e',
      body,
      host: `127.0.0.1:${receiver.port}`,
      'content-length': '6',
      'x-webhook-signature': 'abc',
      'user-agent': 'test',
      'accept-encoding': 'identity',
    },
  ]);
});

t.test('Every status is an answer that the owner sees', async (t) => {
  const receiver = await startProbeServer(t, (request, response) => {
    response.writeHead(Number(request.url?.slice(1))).end('what only the receiver knows');
  });
  const http = createTestHttpClient(t);
  for (const status of [400, 401, 404, 410, 429, 500, 503, 599]) {
    const outcome = await http.post(buildPost(`http://127.0.0.1:${receiver.port}/${status}`));
    t.strictSame(outcome, { kind: 'answered', status, error: `The receiver answered ${status}.` });
  }
});

t.test('Refused, reset, not HTTP, no TLS and invalid certificates have the same error', async (t) => {
  const gone = await startRawProbeServer(t, () => {});
  const resets = await startRawProbeServer(t, (socket) => socket.resetAndDestroy());
  const resetsLater = await startRawProbeServer(t, (socket) => socket.once('data', () => socket.resetAndDestroy()));
  const ends = await startRawProbeServer(t, (socket) => socket.once('data', () => socket.end()));
  const banner = await startRawProbeServer(t, (socket) => socket.end('SSH-2.0-OpenSSH_9.9\r\n'));
  const hugeHeaders = await startRawProbeServer(t, (socket) =>
    socket.once('data', () => socket.end(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(64 * 1024)}\r\n\r\n`)),
  );
  const upgrades = await startRawProbeServer(t, (socket) =>
    socket.once('data', () =>
      socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'),
    ),
  );
  const silent = await startRawProbeServer(t, () => {});
  const tls = await startListening(
    t,
    createTlsServer({ key: KEY, cert: CERTIFICATE }, (_, to) => to.end()),
    '127.0.0.1',
    0,
  );
  const { lookup } = createFakeLookup({ 'receiver.test': ['127.0.0.1'] });
  const http = createTestHttpClient(t, { lookup, connectMs: 200 });
  const urls = {
    reset: addressOf(resets),
    'reset after the request': addressOf(resetsLater),
    'closed after the request': addressOf(ends),
    'another protocol': addressOf(banner),
    'endless headers': addressOf(hugeHeaders),
    'an upgrade without a request for it': addressOf(upgrades),
    'http to TLS': addressOf(tls),
    'TLS to http': addressOf(banner).replace('http:', 'https:'),
    'TLS to silence': addressOf(silent).replace('http:', 'https:'),
    'a certificate of an unknown issuer': `https://receiver.test:${tls.port}/`,
    refused: `http://127.0.0.1:1/`,
  };
  for (const [what, url] of Object.entries(urls)) t.strictSame(await http.post(buildPost(url)), broken, what);
  t.equal(gone.connections, 0);
});

t.test('A certificate is valid if its authority is trusted and it names the host', async (t) => {
  const before = getCACertificates('default');
  setDefaultCACertificates([...before, AUTHORITY]);
  t.after(() => setDefaultCACertificates(before));
  const names: (string | false | null)[] = [];
  const server = createTlsServer({ key: KEY, cert: CERTIFICATE }, (_, response) => response.end());
  server.on('secureConnection', (socket) => names.push(socket.servername));
  const receiver = await startListening(t, server, '127.0.0.1', 0);
  const { lookup } = createFakeLookup({ 'receiver.test': ['127.0.0.1'], 'other.test': ['127.0.0.1'] });
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
  t.after(() => delete process.env.NODE_TLS_REJECT_UNAUTHORIZED);
  const http = createTestHttpClient(t, {
    lookup,
    env: { ...PRODUCTION_ENV, EGRESS_ALLOW: `127.0.0.1/32:${receiver.port}` },
  });
  t.strictSame(await http.post(buildPost(`https://receiver.test.:${receiver.port}/`)), delivered);
  t.strictSame(await http.post(buildPost(`https://receiver.test:${receiver.port}/`)), delivered);
  t.strictSame(await http.post(buildPost(`https://other.test:${receiver.port}/`)), broken);
  t.strictSame(await http.post(buildPost(`https://127.0.0.1:${receiver.port}/`)), broken);
  t.equal(names[0], 'receiver.test');
});

t.test('No receiver extends its timeout', async (t) => {
  const talks: Record<string, (socket: Socket) => void> = {
    'says nothing': () => {},
    'drips its first line': (socket) => socket.write('HTTP/1.1 200 ') && drip(socket, 'O'),
    'drips headers': (socket) => socket.write('HTTP/1.1 200 OK\r\n') && drip(socket, 'x: y\r\n'),
    'drips interim answers': (socket) => drip(socket, 'HTTP/1.1 103 Early Hints\r\n\r\n'),
    'does not even read': (socket) => {
      socket.pause();
      // Only then it notices that the client has disconnected.
      setTimeout(400).then(() => socket.resume());
    },
  };
  const http = createTestHttpClient(t);
  for (const [what, talk] of Object.entries(talks)) {
    const receiver = await startRawProbeServer(t, talk);
    const began = performance.now();
    const body = Buffer.alloc(8 * 1024 * 1024);
    const outcome = await http.post({ url: addressOf(receiver), headers: {}, body, responseMs: 200 });
    t.ok(performance.now() - began < 2000, what);
    t.strictSame(outcome, late, what);
    await receiver.allClosed();
  }
});

t.test('An answer counts by its status, for every end of its body, and is not read beyond 64 KiB', async (t) => {
  const head = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';
  const bomb = gzipSync(Buffer.alloc(200 * 1024 * 1024));
  const talks: Record<string, (socket: Socket) => void> = {
    'drips its body': (socket) => socket.write(head) && drip(socket, '1\r\nx\r\n'),
    'stops within its body': (socket) => socket.write(`${head}5\r\nab`),
    'breaks off': (socket) => socket.end(`${head}5\r\nab`),
    'has a body without end': (socket) => {
      const chunk = Buffer.from(`4000\r\n${'x'.repeat(0x4000)}\r\n`);
      const pour = () => {
        while (socket.write(chunk));
      };
      socket.write(head);
      socket.on('drain', pour);
      pour();
    },
    'has a bomb for a body': (socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${bomb.length}\r\n\r\n`);
      socket.end(bomb);
    },
  };
  const http = createTestHttpClient(t);
  for (const [what, talk] of Object.entries(talks)) {
    let written = 0;
    const receiver = await startRawProbeServer(t, (socket) => {
      socket.once('data', () => talk(socket));
      socket.once('close', () => {
        written = socket.bytesWritten;
      });
    });
    const memory = process.memoryUsage.rss();
    const began = performance.now();
    t.strictSame(await http.post({ ...buildPost(addressOf(receiver)), responseMs: 300 }), delivered, what);
    t.ok(performance.now() - began < 2000, what);
    await receiver.allClosed();
    t.ok(written < 16 * 1024 * 1024, `${what}: ${written} bytes`);
    t.ok(process.memoryUsage.rss() - memory < 100 * 1024 * 1024, `${what}: memory`);
  }
});

t.test('An interim answer that was not asked for is skipped', async (t) => {
  const http = createTestHttpClient(t);
  for (const interim of ['100 Continue', '102 Processing', '103 Early Hints']) {
    const head = `HTTP/1.1 ${interim}\r\n\r\n`;
    for (const [end, error] of [
      ['200 OK', null],
      ['503 Gone', 'The receiver answered 503.'],
    ] as const) {
      const receiver = await startRawProbeServer(t, (socket) =>
        socket.on('data', () => socket.write(`${head}${head}HTTP/1.1 ${end}\r\ncontent-length: 0\r\n\r\n`)),
      );
      const status = Number.parseInt(end, 10);
      for (let request = 0; request < 3; request += 1) {
        t.strictSame(await http.post(buildPost(addressOf(receiver))), { kind: 'answered', status, error }, interim);
      }
    }
  }
});

t.test('An answer of up to 64 KiB keeps its connection', async (t) => {
  const receiver = await startProbeServer(t, (_, response) => response.end(Buffer.alloc(64 * 1024)));
  const http = createTestHttpClient(t);
  for (let request = 0; request < 3; request += 1) {
    t.strictSame(await http.post(buildPost(addressOf(receiver))), delivered);
    // A connection is reusable only after the turn of the event loop in which its answer ended.
    await turn();
  }
  t.equal(receiver.connections, 1);
});

t.test('The caller aborts a request in any phase, and its signal collects no listeners', async (t) => {
  const stopped = { kind: 'aborted', status: null, error: 'The request was stopped before the receiver answered.' };
  const silent = await startRawProbeServer(t, () => {});
  let lookups = 0;
  const lookup = () => {
    lookups += 1;
    return new Promise<never>(() => {});
  };
  const http = createTestHttpClient(t, { lookup });
  t.strictSame(await http.post({ ...buildPost(addressOf(silent)), signal: AbortSignal.abort() }), stopped);
  for (const [url, hasBegun] of [
    ['http://unresolved.test/', () => lookups === 1],
    [addressOf(silent), () => silent.connections === 1],
    [addressOf(silent).replace('http:', 'https:'), () => silent.connections === 2],
  ] as const) {
    const stop = new AbortController();
    const outcome = http.post({ ...buildPost(url), signal: stop.signal });
    while (!hasBegun()) await turn();
    stop.abort();
    t.strictSame(await outcome, stopped, url);
  }
  await silent.allClosed();

  const receiver = await startProbeServer(t, (_, response) => response.end());
  const { signal } = new AbortController();
  let listeners = 0;
  const { addEventListener, removeEventListener } = signal;
  signal.addEventListener = (...given: Parameters<typeof addEventListener>) => {
    listeners += 1;
    addEventListener.apply(signal, given);
  };
  signal.removeEventListener = (...given: Parameters<typeof removeEventListener>) => {
    listeners -= 1;
    removeEventListener.apply(signal, given);
  };
  for (let request = 0; request < 3; request += 1) await http.post({ ...buildPost(addressOf(receiver)), signal });
  t.equal(listeners, 0);
});

t.test('A request that ended while it waited for its connection is never sent', async (t) => {
  let requests = 0;
  const receiver = await startProbeServer(t, (_, response) => {
    requests += 1;
    response.end();
  });
  const lookup = () => setTimeout(60, ['127.0.0.1']);
  const http = createTestHttpClient(t, { lookup });
  const url = `http://receiver.test:${receiver.port}/`;
  const stop = new AbortController();
  const given = [
    http.post({ ...buildPost(url), connectMs: 20 }),
    http.post({ ...buildPost(url), signal: stop.signal }),
  ];
  stop.abort();
  t.match(await Promise.all(given), [broken, { kind: 'aborted' }]);
  t.strictSame(await http.post(buildPost(url)), delivered);
  await http.close();
  t.equal(requests, 1);
});

t.test('A request that cannot be written is a value and no exception', async (t) => {
  const receiver = await startProbeServer(t, (_, response) => response.end());
  const outcome = await createTestHttpClient(t).post({
    ...buildPost(addressOf(receiver)),
    headers: { 'x-a': 'b\r\nx-c: d' },
  });
  t.strictSame(outcome, broken);
  t.equal(receiver.connections, 0);
});

t.test('Thousands of receivers leave few connections behind, and no request is cut off', async (t) => {
  const receiver = await startProbeServer(t, async (_, response) => {
    await setTimeout(5);
    response.end();
  });
  const http = createTestHttpClient(t, { maxOrigins: 20 });
  const outcomes = [];
  for (let round = 0; round < 20; round += 1) {
    const urls = Array.from({ length: 100 }, (_, at) => `http://r${round}-${at}.localhost:${receiver.port}/`);
    outcomes.push(...(await Promise.all(urls.map((url) => http.post(buildPost(url))))));
  }
  t.strictSame(
    outcomes.filter(({ status }) => status !== 200),
    [],
  );
  t.equal(receiver.connections, 2000);
  t.ok(receiver.maxConnections < 1000, `${receiver.maxConnections} connections at the same time`);
});

t.test('The bound on connections holds for receivers that keep many of them', async (t) => {
  const receiver = await startProbeServer(t, async (_, response) => {
    await setTimeout(5);
    response.end();
  });
  const http = createTestHttpClient(t, { maxSockets: 30 });
  const crowd = (host: string) =>
    Promise.all(Array.from({ length: 20 }, () => http.post(buildPost(`http://${host}.localhost:${receiver.port}/`))));
  for (const host of ['a', 'b', 'c', 'd', 'e']) await crowd(host);
  t.ok(receiver.connections >= 100);
  t.ok(receiver.maxConnections < 80, `${receiver.maxConnections} connections at the same time`);
});

t.test('Close ends running requests at once, and nothing starts after it', async (t) => {
  const silent = await startRawProbeServer(t, () => {});
  const http = createTestHttpClient(t, { lookup: () => new Promise(() => {}) });
  const running = ['http://unresolved.test/', addressOf(silent)].map((url) => http.post(buildPost(url)));
  while (silent.connections === 0) await turn();
  await http.close();
  t.strictSame(await Promise.all(running), [broken, broken]);
  t.strictSame(await http.post(buildPost(addressOf(silent))), broken);
  t.equal(silent.connections, 1);
});
