import { setTimeout as delay } from 'node:timers/promises';
import { endpoints } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t, { type Test } from 'tap';
import { DELIVERY_LIMITS } from '../../../src/product/deliveries/queue/claim.ts';
import { createDeliverer, type DelivererOptions } from '../../../src/product/deliveries/queue/deliverer.ts';
import { testContext } from '../../support/context.ts';
import { signUpAlice } from '../../support/people.ts';
import { type Receiver, startReceiver } from '../../support/servers/receiver.ts';
import { insertWebhooks, recordManyEvents } from '../../support/webhooks.ts';

const { app, ctx } = await testContext(t, { env: { WEBHOOK_CONCURRENCY: '4' } });
const alice = await signUpAlice(app);
t.beforeEach(async () => {
  await ctx.db.delete(endpoints);
});

/** Webhooks at one hanging and one healthy receiver, in random order; `run` ends when the healthy one has everything. */
async function stage(t: Test, { hanging, healthy, each }: { hanging: number; healthy: number; each: number }) {
  const bad = await startReceiver(t);
  const good = await startReceiver(t);
  bad.answer('hang');
  const urls = (count: number, { url }: Receiver) => Array.from({ length: count }, (_, n) => `${url}/${n}`);
  await insertWebhooks(ctx, alice.id, [...urls(hanging, bad), ...urls(healthy, good)]);
  await recordManyEvents(ctx, alice.id, each);
  return {
    bad,
    good,
    async run(options: DelivererOptions) {
      const deliverer = createDeliverer(ctx, { graceMs: 0, ...options });
      const startedAt = performance.now();
      deliverer.wake();
      while (good.received.length < healthy * each && performance.now() - startedAt < 20_000) await delay(5);
      const tookMs = performance.now() - startedAt;
      await deliverer.stop();
      return tookMs;
    },
  };
}

t.test('Ten times as many hanging receivers as a process has slots delay no other webhook', async (t) => {
  const { bad, good, run } = await stage(t, { hanging: 40, healthy: 40, each: 5 });
  const tookMs = await run({ slowAfterMs: 20 });
  t.comment(`${good.received.length} deliveries in ${Math.round(tookMs)} ms, ${bad.mostOpen} hanging meanwhile`);
  t.equal(good.received.length, 200);
  t.ok(bad.mostOpen > 4, 'hanging deliveries hold no slot');
  t.ok(bad.received.length <= 44, 'beyond the slots of the process each webhook has one');
});

t.test('Failing webhooks hold at most their share of the total limit', async (t) => {
  const limits = { ...DELIVERY_LIMITS, total: 20, failing: 6 };
  const { bad, good, run } = await stage(t, { hanging: 20, healthy: 20, each: 4 });
  await ctx.db.update(endpoints).set({ lastAttemptOk: false });
  for (const { id, url } of await ctx.db.select().from(endpoints)) {
    if (url.startsWith(good.url)) await prove(id);
  }
  await run({ slowAfterMs: 20, limits });
  t.equal(good.received.length, 80);
  // A claim counts what failing webhooks hold before it starts, so it may exceed their share by its own slots.
  t.ok(bad.mostOpen <= 6 + 4, `${bad.mostOpen} at most`);
});

const prove = (id: string) => ctx.db.update(endpoints).set({ lastAttemptOk: true }).where(eq(endpoints.id, id));
