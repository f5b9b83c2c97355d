import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import type { SentRequest } from '../system/mixed-load.ts';
import { hasNginx } from '../system/servers/nginx.ts';
import { startCluster } from './cluster/cluster.ts';
import { signalProcessesIn } from './cluster/processes.ts';
import { listMissingPackages } from './cluster/programs.ts';
import { DISTURBANCES, RECOVERY_MS } from './disturbances.ts';
import { prepareLoad } from './load.ts';

/** More rounds: `ROUNDS=10 node_modules/.bin/tap test/failover`. */
const ROUNDS = Number(process.env.ROUNDS ?? 1);

const missing = [...listMissingPackages(), ...(hasNginx() ? [] : ['nginx'])];
if (missing.length > 0 && process.env.REQUIRE_PROGRAMS)
  throw new Error(`REQUIRE_PROGRAMS is set, but there is no ${missing.join(', ')}.`);
const skip = missing.length > 0 && `needs ${missing.join(', ')} (apt-get install)`;

const TIMEOUT_MS = 400_000 * ROUNDS;
t.setTimeout(TIMEOUT_MS);

t.test('A failover of PostgreSQL loses nothing and doubles nothing', { skip, timeout: TIMEOUT_MS }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-failover-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  // The account of PostgreSQL works below.
  chmodSync(folder, 0o711);
  const stack = new AsyncDisposableStack();
  t.teardown(() => stack.disposeAsync());
  // At once, and when the run is interrupted, too: frozen processes do not stop, and Patroni waits for the others.
  const end = () => signalProcessesIn(folder, 'SIGKILL');
  t.teardown(end);
  process.once('exit', end);
  stack.defer(() => void process.off('exit', end));
  const cluster = await startCluster(stack, folder);
  // One process lists the servers, the other one leaves the choice to HAProxy.
  const load = await prepareLoad(stack, { folder, databaseUrls: [cluster.listUrl, cluster.haproxyUrl] });

  for (const { name, durationMs, disturb } of DISTURBANCES) {
    for (let round = 1; round <= ROUNDS; round++) {
      await t.test(`${name}, round ${round}`, { timeout: TIMEOUT_MS }, async (t) => {
        await cluster.waitUntilHealthy();
        const primary = await cluster.findPrimary();
        if (!primary) throw new Error('There is no primary.');
        const found = await load.run({
          durationMs,
          async fault() {
            const faultAt = performance.now();
            return { faultAt, backAt: await disturb(cluster, primary) };
          },
        });
        const { faultAt, backAt } = found.fault;
        t.strictSame(found.errors, [], 'what was acknowledged is there once');
        const isExcused = ({ startedAt, endedAt }: SentRequest) =>
          endedAt > faultAt && startedAt < backAt + RECOVERY_MS;
        const unexcused = found.failed.filter((request) => !isExcused(request));
        t.strictSame(unexcused, [], 'no request fails before the fault and after it');
        t.ok(found.failed.length > 0, 'requests fail during the fault');
        const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;
        const { requests, failed, runs, interruptions, repeatedCalls, repeatedDeliveries } = found;
        const latest = seconds(Math.max(...found.latenessMs));
        t.comment(
          `no commit for ${seconds(backAt - faultAt)}, ${failed.length} of ${requests} requests failed, the latest run started ${latest} late`,
        );
        t.comment({ runs, interruptions, repeatedCalls, repeatedDeliveries });
      });
    }
  }
});
