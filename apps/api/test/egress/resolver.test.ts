import { stat } from 'node:fs/promises';
import { networkInterfaces } from 'node:os';
import { setImmediate as turn } from 'node:timers/promises';
import t from 'tap';
import type { buildConnector } from 'undici';
import { createConnector, NoAllowedAddress } from '../../src/lib/egress/connector.ts';
import type { EgressPolicy } from '../../src/lib/egress/policy.ts';
import { createLookup } from '../../src/lib/egress/resolver.ts';
import { PRODUCTION_ENV } from '../support/production.ts';
import { startNameServer } from '../support/servers/name-server.ts';
import {
  buildPost,
  countConnectionAttempts,
  createFakeLookup,
  createTestHttpClient,
  startProbeServer,
  startRawProbeServer,
  startWildcardServer,
} from '../support/servers/probe-servers.ts';

const hasIPv6 = Object.values(networkInterfaces()).some((list) => list?.some(({ address }) => address === '::1'));
const noAddress = {
  kind: 'not_sent',
  status: null,
  error: 'Nothing was sent: the host of the address has no public address.',
};

t.test('A name is refused if any of its addresses is not public, in any spelling', async (t) => {
  const canary = await startWildcardServer(t);
  const attempts = countConnectionAttempts(t);
  const { lookup, asked } = createFakeLookup({
    'inside.test': ['127.0.0.1'],
    'inside6.test': ['::1'],
    'mapped.test': ['::ffff:127.0.0.1'],
    'translated.test': ['64:ff9b::7f00:1'],
    'translated-local.test': ['64:ff9b:1::808:808'],
    'zone.test': ['fe80::1%lo'],
    'metadata.test': ['169.254.169.254'],
    'any.test': ['0.0.0.0'],
    'mixed.test': ['8.8.8.8', '127.0.0.1'],
    'mixed-late.test': [...new Array<string>(20).fill('8.8.8.8'), '10.0.0.1'],
    'mixed6.test': ['2606:4700::1111', '::1'],
    'mixed-families.test': ['2606:4700::1111', '192.168.0.1'],
    'alias.test': ['100.64.0.1'],
    'nonsense.test': ['not-an-address'],
    'empty.test': [],
  });
  const http = createTestHttpClient(t, { env: { EGRESS_ALLOW: '' }, lookup });
  const names = ['inside', 'inside6', 'mapped', 'translated', 'translated-local', 'zone', 'metadata', 'any', 'mixed'];
  const others = ['mixed-late', 'mixed6', 'mixed-families', 'alias', 'nonsense', 'empty', 'unknown'];
  for (const name of [...names, ...others]) {
    for (const host of [`${name}.test`, `${name}.test.`, `${name.toUpperCase()}.TEST`, `${name}。test`]) {
      t.strictSame(await http.post(buildPost(`http://${host}:${canary.port}/`)), noAddress, host);
    }
  }
  t.strictSame(new Set(asked).size, names.length + others.length, 'a final dot is not a name of its own');
  t.equal(attempts.count, 0, 'not even an attempt');
  t.equal(canary.connections, 0);
});

t.test('An unknown name has the same error as a name of a private address', async (t) => {
  const http = createTestHttpClient(t, {
    lookup: async () => {
      throw new Error('ENOTFOUND');
    },
  });
  t.strictSame(await http.post(buildPost('http://unknown.test/')), noAddress);
});

t.test(
  'A name that resolves to a private address later is refused at its next connection',
  { skip: !hasIPv6 },
  async (t) => {
    const receiver = await startProbeServer(t, (_, response) => response.writeHead(200, { connection: 'close' }).end());
    const canary = await startProbeServer(t, (_, response) => response.end(), '::1', receiver.port);
    const answers = [['127.0.0.1'], ['::1'], ['127.0.0.1', '::1']];
    const http = createTestHttpClient(t, {
      env: { EGRESS_ALLOW: `127.0.0.1/32:${receiver.port}` },
      lookup: async () => answers.shift() ?? ['::1'],
    });
    const url = `http://rebind.test:${receiver.port}/`;
    t.match(await http.post(buildPost(url)), { kind: 'answered', status: 200 });
    await receiver.allClosed();
    for (let attempt = 0; attempt < 3; attempt += 1) t.strictSame(await http.post(buildPost(url)), noAddress);
    t.equal(receiver.connections, 1);
    t.equal(canary.connections, 0);
  },
);

t.test('A name is resolved once for a connection, and not again while it is open', async (t) => {
  const receiver = await startProbeServer(t, (_, response) => response.end());
  const { lookup, asked } = createFakeLookup({ 'receiver.test': ['127.0.0.1'] });
  const http = createTestHttpClient(t, { lookup });
  for (let request = 0; request < 5; request += 1) {
    t.match(await http.post(buildPost(`http://Receiver.test.:${receiver.port}/${request}`)), { status: 200 });
    // A connection is reusable only after the turn of the event loop in which its answer ended.
    await turn();
  }
  t.strictSame(asked, ['receiver.test']);
  t.equal(receiver.connections, 1);
});

t.test('The addresses of a name are tried one after the other', { skip: !hasIPv6 }, async (t) => {
  const receiver = await startProbeServer(t, (_, response) => response.end());
  const { lookup } = createFakeLookup({ 'receiver.test': ['::1', '127.0.0.1'] });
  const http = createTestHttpClient(t, { lookup });
  t.match(await http.post(buildPost(`http://receiver.test:${receiver.port}/`)), { status: 200 });
});

t.test('localhost and names below it are never sent to a name server', async (t) => {
  const canary = await startWildcardServer(t);
  const { lookup, asked } = createFakeLookup({});
  const inside = createTestHttpClient(t, { lookup, env: { EGRESS_ALLOW: `127.0.0.1/32:${canary.port}` } });
  const outside = createTestHttpClient(t, { lookup, env: { EGRESS_ALLOW: '' } });
  for (const host of ['localhost', 'localhost.', 'hooks.localhost']) {
    t.match(await inside.post(buildPost(`http://${host}:${canary.port}/`)), { status: 200 });
    t.match(await outside.post(buildPost(`http://${host}:${canary.port}/`)), { kind: 'not_sent' });
  }
  t.strictSame(asked, []);
  t.ok(canary.connections > 0);
});

t.test('Silent name servers take no longer than the timeout of a connection', async (t) => {
  let given: AbortSignal | undefined;
  const http = createTestHttpClient(t, {
    connectMs: 50,
    lookup: (_, signal) => {
      given = signal;
      return new Promise(() => {});
    },
  });
  t.match(await http.post(buildPost('http://silent.test/')), { kind: 'connection' });
  t.equal(given?.aborted, true, 'and are not waited for any more');
});

t.test("Both address families and aliases of a name server's answer are checked", async (t) => {
  const canary = await startWildcardServer(t);
  const server = await startNameServer(t, {
    'receiver.test': ['A 127.0.0.1'],
    'both.test': ['A 127.0.0.1', 'AAAA fd00::1'],
    'alias.test': ['CNAME other.test'],
    'other.test': ['A 10.0.0.1', 'A 127.0.0.1'],
    'good-alias.test': ['CNAME receiver.test'],
    'nothing.test': [],
  });
  const lookup = createLookup({ useHostsFile: false, servers: [server.address] });
  const signal = AbortSignal.timeout(5000);
  t.strictSame(await lookup('both.test', signal), ['127.0.0.1', 'fd00::1']);
  t.strictSame(new Set(await lookup('alias.test', signal)), new Set(['10.0.0.1', '127.0.0.1']));
  t.strictSame(await lookup('nothing.test', signal), []);
  t.strictSame(await lookup('unknown.test', signal), []);
  const http = createTestHttpClient(t, { lookup, env: { EGRESS_ALLOW: `127.0.0.1/32:${canary.port}` } });
  const post = (name: string) => http.post(buildPost(`http://${name}:${canary.port}/`));
  t.match(await post('receiver.test'), { status: 200 });
  t.match(await post('good-alias.test'), { status: 200 });
  for (const name of ['both.test', 'alias.test', 'nothing.test', 'unknown.test']) {
    t.strictSame(await post(name), noAddress, name);
  }
  t.equal(canary.connections, 2);
});

t.test('Names with a silent name server delay no others and no work of the process', async (t) => {
  const canary = await startWildcardServer(t);
  const names = Array.from({ length: 50 }, (_, at) => `silent${at}.test`);
  const server = await startNameServer(t, {
    'receiver.test': ['A 127.0.0.1'],
    ...Object.fromEntries(names.map((name) => [name, 'silent'] as const)),
  });
  const lookup = createLookup({ useHostsFile: true, servers: [server.address] });
  const http = createTestHttpClient(t, { lookup });
  const began = performance.now();
  const waiting = names.map((name) => http.post({ ...buildPost(`http://${name}:${canary.port}/`), connectMs: 1200 }));
  t.match(await http.post(buildPost(`http://receiver.test:${canary.port}/`)), { status: 200 });
  await stat(import.meta.filename);
  t.ok(performance.now() - began < 1000);
  t.ok((await Promise.all(waiting)).every(({ kind }) => kind === 'connection'));
  t.equal(canary.connections, 1);
});

t.test('Names of the hosts file are resolved if the operator allows addresses that are not public', async (t) => {
  const { signal } = new AbortController();
  const server = await startNameServer(t, {});
  const ask = (useHostsFile: boolean) => createLookup({ useHostsFile, servers: [server.address] })('localhost', signal);
  t.ok((await ask(true)).some((address) => /^127\.|^::1$/.test(address)));
  t.strictSame(await ask(false), []);
});

t.test('A connection to another address than the checked one is dropped before a byte is sent', async (t) => {
  let received = 0;
  const receiver = await startRawProbeServer(t, (socket) => socket.on('data', ({ length }) => (received += length)));
  for (const protocol of ['http:', 'https:']) {
    const verdicts = [true, true];
    const egress: Pick<EgressPolicy, 'allows' | 'findLocalAddresses'> = {
      findLocalAddresses: () => null,
      allows: () => verdicts.pop() ?? false,
    };
    const connector = createConnector(egress as EgressPolicy, async () => ['127.0.0.1', '127.0.0.1'], 1000);
    const target: buildConnector.Options = { hostname: 'moved.test', protocol, port: String(receiver.port) };
    const error = await new Promise((resolve) => connector.connect(target, (...[error]) => resolve(error)));
    t.ok(error instanceof NoAllowedAddress);
  }
  await receiver.allClosed();
  t.equal(receiver.connections, 2);
  t.equal(received, 0);
});

t.test(
  'In production a name is reached by https at port 443 or 8443, or if EGRESS_ALLOW lists its addresses',
  async (t) => {
    const attempts = countConnectionAttempts(t);
    const { lookup, asked } = createFakeLookup({ 'inside.test': ['10.1.2.3'] });
    const http = createTestHttpClient(t, { lookup, env: { ...PRODUCTION_ENV, EGRESS_ALLOW: '10.0.0.0/8:9443' } });
    t.match(await http.post(buildPost('http://inside.test:9443/')), { kind: 'not_sent' });
    t.match(await http.post(buildPost('https://inside.test:9444/')), { kind: 'not_sent' });
    t.strictSame(asked, []);
    t.match(await http.post(buildPost('https://inside.test/')), { kind: 'not_sent' });
    t.strictSame(asked, ['inside.test']);
    t.equal(attempts.count, 0);
  },
);
