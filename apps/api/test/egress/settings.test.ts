import t from 'tap';
import { loadConfig } from '../../src/lib/config/config.ts';
import { isPublic, parseAddress } from '../../src/lib/egress/policy.ts';
import { PRODUCTION_ENV } from '../support/production.ts';
import { createTestHttpClient } from '../support/servers/probe-servers.ts';

const allowed = (EGRESS_ALLOW?: string, NODE_ENV = 'test') =>
  loadConfig({
    ...PRODUCTION_ENV,
    NODE_ENV,
    EGRESS_ALLOW,
  }).egressAllow;

t.test(
  'EGRESS_ALLOW defaults to loopback and private networks in development and to nothing in production, and may be empty',
  async (t) => {
    const local = ['127.0.0.0/8', '::1/128', '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'];
    for (const environment of ['test', 'development']) {
      const networks = allowed(undefined, environment).map(({ address, bits }) => `${address}/${bits}`);
      t.strictSame(networks, local);
    }
    t.strictSame(allowed(undefined, 'production'), []);
    for (const nothing of ['', ' ']) {
      t.strictSame(allowed(nothing), []);
      t.strictSame(allowed(nothing, 'production'), []);
    }
  },
);

t.test('EGRESS_ALLOW accepts CIDRs of both families, each with an optional port', async (t) => {
  t.strictSame(allowed('10.0.0.0/8, 192.168.1.20/32:9000,fd00::/8:9000,[fd00::1]/128:65535,0.0.0.0/0', 'production'), [
    { address: '10.0.0.0', bits: 8, port: null },
    { address: '192.168.1.20', bits: 32, port: 9000 },
    { address: 'fd00::', bits: 8, port: 9000 },
    { address: 'fd00::1', bits: 128, port: 65_535 },
    { address: '0.0.0.0', bits: 0, port: null },
  ]);
});

t.test('EGRESS_ALLOW refuses ambiguous and invalid entries', async (t) => {
  const wrong = [
    ...['10.0.0.1', '10.0.0.1:9000', '::1', '::1:8080', '[::1]:8080', 'localhost/32', '*', 'true', '10.0.0.0/33'],
    ...[
      '::1/129',
      '10.0.0.0/8:0',
      '10.0.0.0/8:65536',
      '10.0.0.0/8:',
      '10.0.0.0/',
      '10.0.0.0/8,,::1/128',
      '010.0.0.0/8',
    ],
    ...['[10.0.0.0]/8', '[::1/128', 'fe80::1%lo/128', '10.0.0.0/8/8'],
  ];
  for (const value of wrong) {
    t.throws(
      () => allowed(value),
      { message: `EGRESS_ALLOW is ${JSON.stringify(value)}, but takes comma-separated` },
      value,
    );
  }
});

t.test('An address is public only within allocated global networks', async (t) => {
  // The first and last addresses of networks that are not public, and their public neighbours.
  const special = [
    ...['0.0.0.0', '0.255.255.255', '10.0.0.0', '10.255.255.255', '100.64.0.0', '100.127.255.255', '127.0.0.0'],
    ...['127.255.255.255', '169.254.0.0', '169.254.169.254', '169.254.255.255', '172.16.0.0', '172.31.255.255'],
    ...['192.0.0.0', '192.0.0.255', '192.0.2.0', '192.0.2.255', '192.31.196.1', '192.52.193.1', '192.88.99.0'],
    ...['192.88.99.255', '192.168.0.0', '192.168.255.255', '192.175.48.1', '198.18.0.0', '198.19.255.255'],
    ...['198.51.100.0', '198.51.100.255', '203.0.113.0', '203.0.113.255', '224.0.0.0', '239.255.255.255'],
    ...['240.0.0.0', '255.255.255.254', '255.255.255.255'],
    ...['::', '::1', '::2', '::7f00:1', '::808:808', '::ffff:127.0.0.1', '::ffff:10.0.0.1', '::ffff:0:808:808'],
    ...['64:ff9b::127.0.0.1', '64:ff9b::10.0.0.1', '64:ff9b::a9fe:a9fe', '64:ff9b::', '64:ff9b:1::808:808'],
    ...['64:ff9b:0:0:0:1:808:808', '64:ff9c::808:808', '100::', '100::1', '100:0:0:1::1', '200::1', '1fff:ffff::1'],
    ...['2001::', '2001::1', '2001:0:4136:e378:8000:63bf:3fff:fdd2', '2001:2::1', '2001:10::1', '2001:20::1'],
    ...['2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff', '2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff'],
    ...['2002::', '2002:7f00:1::', '2002:808:808::1', '2620:4f:8000::1', '3fff::', '3fff:fff:ffff::1', '4000::1'],
    ...['5f00::1', '8000::1', 'e000::1', 'fc00::', 'fd00:ec2::254', 'fdff::1', 'fe00::1', 'fe80::1', 'febf::1'],
    ...['fec0::1', 'feff::1', 'ff00::1', 'ff02::1', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ];
  const open = [
    ...['1.0.0.0', '8.8.8.8', '9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0', '126.255.255.255'],
    ...['128.0.0.0', '169.253.255.255', '169.255.0.0', '172.15.255.255', '172.32.0.0', '192.0.1.0', '192.0.3.0'],
    ...['192.167.255.255', '192.169.0.0', '198.17.255.255', '198.20.0.0', '198.51.101.0', '203.0.114.0'],
    ...['223.255.255.255', '::ffff:8.8.8.8', '64:ff9b::8.8.8.8', '2001:200::1', '2001:4860:4860::8888'],
    ...['2001:db7:ffff::1', '2001:db9::1', '2003::1', '2606:4700:4700::1111', '2a00:1450::1', '3ffe::1'],
  ];
  const verdict = (address: string) => isPublic(parseAddress(address) ?? '0.0.0.0');
  t.strictSame(special.filter(verdict), []);
  t.strictSame(
    open.filter((address) => !verdict(address)),
    [],
  );
  for (const none of ['', 'localhost', '127.1', '1.2.3.4.5', '[::1]', 'fe80::1%lo', ':::', '2130706433']) {
    t.equal(parseAddress(none), null, none);
  }
});

t.test('In production an address is https, at port 443 or 8443, with a public host and no user', async (t) => {
  const { checkAddress } = createTestHttpClient(t, { env: PRODUCTION_ENV });
  const problems = {
    'https://example.com/a?b=c': null,
    'https://example.com.:8443/': null,
    'https://8.8.8.8/': null,
    'https://[2606:4700:4700::1111]/': null,
    'https://bücher.example/': null,
    'http://example.com/': 'must be an https URL',
    'ftp://example.com/': 'must be an https URL',
    'https://user:password@example.com/': 'must not contain a user name or password',
    'https://user@example.com/': 'must not contain a user name or password',
    'https://example.com:9000/': 'must use port 443 or 8443',
    'https://example.com:22/': 'must use port 443 or 8443',
    'https://127.0.0.1/': 'must be a public address',
    'https://0x7f.1/': 'must be a public address',
    'https://[::1]/': 'must be a public address',
    'https://localhost/': 'must be a public address',
    'https://metadata.localhost/': 'must be a public address',
    'https://exa*mple.com/': 'must name a host',
    'https://example..com/': 'must name a host',
    'https://example.com../': 'must name a host',
    [`https://${'a'.repeat(64)}.com/`]: 'must name a host',
    'https://': 'must be a URL with a host',
    'example.com': 'must be a URL with a host',
    '': 'must be a URL with a host',
  };
  for (const [url, problem] of Object.entries(problems)) t.equal(checkAddress(url), problem, url);
});

t.test('In production EGRESS_ALLOW allows addresses at its ports, and no other scheme', async (t) => {
  const { checkAddress } = createTestHttpClient(t, {
    env: { ...PRODUCTION_ENV, EGRESS_ALLOW: '10.0.0.0/8:9000,fd00::/8' },
  });
  t.equal(checkAddress('https://10.1.2.3:9000/'), null);
  t.equal(checkAddress('https://[::ffff:10.1.2.3]:9000/'), null);
  t.equal(checkAddress('https://[fd00::1]:1234/'), null);
  t.equal(checkAddress('https://10.1.2.3/'), 'must be a public address');
  t.equal(checkAddress('https://11.1.2.3:9000/'), 'must be a public address');
  t.equal(checkAddress('http://10.1.2.3:9000/'), 'must be an https URL');
});

t.test('Development accepts http, any port and private addresses, unless EGRESS_ALLOW is set to nothing', async (t) => {
  const { checkAddress } = createTestHttpClient(t);
  t.equal(checkAddress('http://example.com:9000/'), null);
  t.equal(checkAddress('http://127.0.0.1:9000/'), null);
  t.equal(checkAddress('ftp://example.com/'), 'must be an http or https URL');
  const none = createTestHttpClient(t, { env: { EGRESS_ALLOW: '' } });
  for (const host of ['127.0.0.1', '10.1.2.3', '172.31.0.1', '192.168.1.1', '[fd12::1]']) {
    t.equal(checkAddress(`http://${host}/`), null, host);
    t.equal(none.checkAddress(`http://${host}/`), 'must be a public address', host);
  }
  for (const host of ['100.64.0.1', '0.0.0.0', '[fe80::1]', '[::]']) {
    t.equal(checkAddress(`http://${host}/`), 'must be a public address', host);
  }
});

t.test('Link-local addresses and those of metadata are refused, whatever EGRESS_ALLOW lists', async (t) => {
  const clients = [undefined, '0.0.0.0/0,::/0', '169.254.169.254/32,fd00:ec2::254/128'].map((EGRESS_ALLOW) =>
    createTestHttpClient(t, { env: EGRESS_ALLOW === undefined ? {} : { EGRESS_ALLOW } }),
  );
  const hosts = [
    ...['169.254.169.254', '169.254.0.1', '[fe80::1]', '[fd00:ec2::254]', '[fd20:ce::254]', '100.100.100.200'],
    ...['192.0.0.192', '168.63.129.16', '[::ffff:169.254.169.254]', '[64:ff9b::a9fe:a9fe]', '2852039166'],
  ];
  for (const { checkAddress } of clients) {
    for (const host of hosts) t.equal(checkAddress(`http://${host}/`), 'must be a public address', host);
  }
});

t.test('The service itself is never a receiver, even if EGRESS_ALLOW lists it', async (t) => {
  const env = {
    BASE_URL: 'https://carillon.example',
    APP_URL: 'http://App.example:5173',
    PORT: '3100',
    EGRESS_ALLOW: '0.0.0.0/0,::/0',
  };
  const { checkAddress } = createTestHttpClient(t, { env });
  const itself = 'must not be a URL of this service';
  t.equal(checkAddress('https://carillon.example/api/webhooks'), itself);
  t.equal(checkAddress('https://CARILLON.example.:443/'), itself);
  t.equal(checkAddress('http://app.example:5173/'), itself);
  t.equal(checkAddress('https://carillon.example:8443/'), null);
  for (const host of ['127.0.0.1', '127.9.9.9', 'localhost', '[::1]', '0.0.0.0', '[::]', '[::ffff:127.0.0.1]']) {
    t.equal(checkAddress(`http://${host}:3100/`), 'must be a public address', host);
    t.equal(checkAddress(`http://${host}:3101/`), null, host);
  }
});
