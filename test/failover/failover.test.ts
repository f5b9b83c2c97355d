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

t.setTimeout(240_000 * ROUNDS);

t.test('A failover of PostgreSQL loses nothing and doubles nothing', { skip, timeout: 0 }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-failover-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  // The account of PostgreSQL works below.
  chmodSync(folder, 0o711);
  // When the run is interrupted, too.
  const end = () => signalProcessesIn(folder, 'SIGKILL');
  process.once('exit', end);
  const stack = new AsyncDisposableStack();
  t.teardown(() => stack.disposeAsync());
  stack.defer(() => void process.off('exit', end));
  const cluster = await startCluster(stack, folder);
  // One process lists the servers, the other one leaves the choice to HAProxy.
  const load = await prepareLoad(stack, { folder, databaseUrls: [cluster.listUrl, cluster.haproxyUrl] });

  for (const { name, durationMs, disturb } of DISTURBANCES) {
    for (let round = 1; round <= ROUNDS; round++) {
      await t.test(`${name}, round ${round}`, { timeout: 0 }, async (t) => {
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
        const failoverMs = backAt - faultAt;
        t.strictSame(found.errors, [], 'what was acknowledged is there once');
        const isExcused = ({ startedAt, endedAt }: SentRequest) =>
          endedAt > faultAt && startedAt < backAt + RECOVERY_MS;
        t.strictSame(
          found.failed.filter((request) => !isExcused(request)),
          [],
        );
        t.ok(found.failed.length > 0, 'requests failed during the fault');
        const latestMs = Math.max(...found.latenessMs);
        t.ok(latestMs < failoverMs + RECOVERY_MS, 'what became due starts soon after the failover');
        const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;
        const { requests, failed, runs, interruptions, repeatedCalls, repeatedDeliveries } = found;
        t.comment(
          `no commit for ${seconds(failoverMs)}; ${failed.length} of ${requests} requests failed; the latest run started ${seconds(latestMs)} late`,
        );
        t.comment({ runs, interruptions, repeatedCalls, repeatedDeliveries });
      });
    }
  }
});
