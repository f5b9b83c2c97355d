import { rateWindows } from '@carillon/db';
import t from 'tap';
import { START, testContext } from '../support/context.ts';
import { countAllowed, getStatus } from '../support/rate-limits.ts';

// A tenth of 600.
const LIMIT = 60;
const env = { RATE_LIMIT_MULTIPLIER: '0.1', TRUST_PROXY: 'false' };
const { app, ctx, clock } = await testContext(t, { env });
t.beforeEach(async () => {
  clock.set(START);
  await ctx.db.delete(rateWindows);
});

const unknown = (remoteAddress: string) => ({ url: '/api/nothing', remoteAddress });

t.test('IPv6 clients count by their /64, and IPv4-mapped addresses as IPv4', async (t) => {
  t.equal(await countAllowed(app, LIMIT + 1, (i) => unknown(`2001:db8:0:1:${i.toString(16)}::${i}`)), LIMIT);
  t.equal(await getStatus(app, unknown('2001:db8:0:2::1')), 404);
  t.equal(await countAllowed(app, LIMIT + 1, (i) => unknown(i % 2 ? '192.0.2.7' : '::ffff:192.0.2.7')), LIMIT);
});

t.test('X-Forwarded-For of an untrusted proxy has no effect', async (t) => {
  const spoof = (i: number) => ({
    url: '/api/nothing',
    headers: { 'x-forwarded-for': `203.0.113.${i}`, 'x-real-ip': `203.0.113.${i}` },
  });
  t.equal(await countAllowed(app, LIMIT + 10, spoof), LIMIT);
});

t.test('X-Forwarded-For of a trusted proxy names the client', async (t) => {
  const proxied = await testContext(t, { env: { ...env, TRUST_PROXY: '10.0.0.0/8,fd00::/8' } });
  const from = (forwarded: string, remoteAddress = '10.1.2.3') => ({
    url: '/api/nothing',
    remoteAddress,
    headers: { 'x-forwarded-for': forwarded },
  });
  t.equal(await countAllowed(proxied.app, LIMIT + 1, from('203.0.113.1')), LIMIT);
  t.equal(await getStatus(proxied.app, from('203.0.113.2')), 404, 'another client of the same proxy');
  t.equal(
    await countAllowed(proxied.app, LIMIT + 1, (i) => from(`198.51.100.${i}, 203.0.113.3`)),
    LIMIT,
    'what it wrote itself is not believed',
  );
  t.equal(
    await countAllowed(proxied.app, LIMIT + 1, (i) => from(`203.0.113.4, 10.9.9.${i}`)),
    LIMIT,
    'a second proxy of ours is passed over',
  );
  t.equal(
    await countAllowed(proxied.app, LIMIT + 1, (i) => from(`198.51.100.${i}`, '192.0.2.1')),
    LIMIT,
    'the header of another sender is not believed',
  );
  t.equal(
    await countAllowed(proxied.app, LIMIT + 1, (i) => from(`203.0.113.5:${1000 + i}`)),
    LIMIT,
    'another port is not another client',
  );
  t.equal(
    await countAllowed(proxied.app, LIMIT + 1, (i) => from(`nonsense ${i}`)),
    LIMIT,
    'all texts that are not addresses are one client',
  );
  t.equal(await countAllowed(proxied.app, LIMIT + 1, (i) => from(`2001:db8::${i.toString(16)}`, 'fd00::1')), LIMIT);
});
