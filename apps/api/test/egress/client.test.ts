import { networkInterfaces } from 'node:os';
import t from 'tap';
import { isPublic, parseAddress } from '../../src/lib/egress/policy.ts';
import {
  LOCAL_NAMES,
  spellInvalid,
  spellIPv4,
  spellIPv6,
  spellMapped,
  spellTunnelled,
} from '../support/host-spellings.ts';
import {
  buildPost,
  countConnectionAttempts,
  createFakeLookup,
  createTestHttpClient,
  startProbeServer,
  startWildcardServer,
} from '../support/servers/probe-servers.ts';

const own = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .map(({ address }) => parseAddress(address.replace(/%.*/, '')) as string)
  .filter((address) => !isPublic(address));
const hasIPv6 = own.includes('::1');

const IPV4 = [
  '127.0.0.1',
  '127.255.255.254',
  '0.0.0.0',
  '10.99.99.99',
  '172.31.255.254',
  '192.168.1.1',
  '169.254.169.254',
];
const IPV6 = ['::1', '::', 'fe80::1', 'fc00::1', 'fd00:ec2::254', 'fec0::1', 'ff02::1'];

/** Where a client would go that only searches for what follows `//`, or for the last `@`. */
const disguised = (host: string, port: number) => [
  `http://user@${host}:${port}/`,
  `http://public.test@${host}:${port}/`,
  `http://public.test:80@${host}:${port}/`,
  `http://public.test%2f@${host}:${port}/`,
  `http://${host}:${port}\\@public.test/`,
  `http://public.test/@${host}:${port}/`,
  `http://public.test#@${host}:${port}/`,
  `http://public.test?@${host}:${port}/`,
  `http://public.test\\@${host}:${port}/`,
  `//${host}:${port}/`,
  `${host}:${port}`,
  `file://${host}:${port}/`,
  `ftp://${host}:${port}/`,
  `ws://${host}:${port}/`,
  `gopher://${host}:${port}/_POST`,
  `javascript://${host}:${port}/`,
];

/** URLs of this host and port by the URL standard. */
const written = (host: string, port: number) => [
  `http://${host}:${port}/`,
  `http://${host}:0${port}/a?b#c`,
  `HTTP:\\\\${host}:${port}\\`,
];
const oddlyWritten = (host: string, port: number) => [
  `http:${host}:${port}/`,
  `http:////${host}:${port}/`,
  ` \n\thttp://${host}:000${port}/ `,
  `ht\ntp://${host}:${String(port).replace(/^./, '$&\t')}/`,
  `http://@${host}:${port}/`,
  `http://:@${host}:${port}/`,
];

t.test('With an empty EGRESS_ALLOW no spelling of a local address is ever connected to', async (t) => {
  const canary = await startWildcardServer(t);
  const attempts = countConnectionAttempts(t);
  const http = createTestHttpClient(t, { env: { EGRESS_ALLOW: '' }, lookup: createFakeLookup({}).lookup });
  const hosts = [
    ...IPV4.flatMap((address) => [
      ...spellIPv4(address),
      ...spellMapped(address),
      ...spellTunnelled(address),
      ...spellInvalid(address),
    ]),
    ...[...IPV6, ...own.filter((address) => address.includes(':'))].flatMap(spellIPv6),
    ...own.filter((address) => !address.includes(':')).flatMap((address) => [address, ...spellMapped(address)]),
    ...LOCAL_NAMES,
  ];
  const urls = new Set([
    ...hosts.flatMap((host) => written(host, canary.port)),
    ...['127.0.0.1', 'localhost', '[::1]', '2130706433'].flatMap((host) => [
      ...oddlyWritten(host, canary.port),
      ...disguised(host, canary.port),
    ]),
  ]);
  t.ok(urls.size >= 500, `${urls.size} spellings`);
  const outcomes = await Promise.all(
    [...urls].map(async (url) => ({ url, kind: (await http.post(buildPost(url))).kind })),
  );
  t.strictSame(
    outcomes.filter(({ kind }) => kind !== 'not_sent'),
    [],
  );
  t.equal(attempts.count, 0, 'not even an attempt');
  t.equal(canary.connections, 0);
});

t.test('By default, development reaches loopback by every spelling of it', async (t) => {
  const canary = await startWildcardServer(t);
  const http = createTestHttpClient(t, { lookup: createFakeLookup({}).lookup });
  const hosts = [
    ...spellIPv4('127.0.0.1'),
    ...spellMapped('127.0.0.1'),
    ...LOCAL_NAMES,
    ...(hasIPv6 ? spellIPv6('::1') : []),
  ];
  const urls = [
    ...hosts.flatMap((host) => written(host, canary.port)),
    ...oddlyWritten('127.0.0.1', canary.port),
    ...oddlyWritten('localhost', canary.port),
  ];
  for (const url of urls) {
    const outcome = await http.post(buildPost(url));
    if (outcome.status !== 200) t.fail(`${url}: ${outcome.error}`);
  }
  t.ok(canary.connections > 0);
});

t.test('The probe server notices a connection, and the counter an attempt', async (t) => {
  const canary = await startWildcardServer(t);
  const attempts = countConnectionAttempts(t);
  await createTestHttpClient(t).post(buildPost(`http://0x7f.1:${canary.port}/`));
  t.equal(canary.connections, 1);
  t.equal(attempts.count, 1);
});

t.test('A redirect is an answer and is not followed', async (t) => {
  const canary = await startWildcardServer(t);
  const receiver = await startProbeServer(t, (request, response) => {
    const status = Number(request.url?.slice(1));
    const location = `http://127.0.0.1:${canary.port}/`;
    response.writeHead(status, { location, refresh: `0; url=${location}`, link: `<${location}>; rel=preload` }).end();
  });
  const http = createTestHttpClient(t, { env: { EGRESS_ALLOW: `127.0.0.1/32:${receiver.port}` } });
  for (const status of [300, 301, 302, 303, 304, 307, 308]) {
    t.match(await http.post(buildPost(`http://127.0.0.1:${receiver.port}/${status}`)), {
      kind: 'answered',
      status,
      error: `The receiver answered ${status}, and redirects are not followed: give the address that it leads to.`,
    });
  }
  t.equal(canary.connections, 0);
});

t.test('Proxy variables are ignored', async (t) => {
  const canary = await startWildcardServer(t);
  for (const name of ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'ALL_PROXY', 'NODE_USE_ENV_PROXY']) {
    process.env[name] = name.startsWith('NODE') ? '1' : `http://127.0.0.1:${canary.port}`;
    t.after(() => delete process.env[name]);
  }
  const receiver = await startProbeServer(t, (_, response) => response.end());
  const http = createTestHttpClient(t, { env: { EGRESS_ALLOW: `127.0.0.1/32:${receiver.port}` } });
  t.match(await http.post(buildPost(`http://127.0.0.1:${receiver.port}/`)), { status: 200 });
  t.equal(canary.connections, 0);
});
