import { setTimeout as delay } from 'node:timers/promises';
import type { Benchmark } from '../../benchmark.ts';
import { hasNginx } from '../../environment/servers/nginx.ts';
import { formatNumber, highest, median } from '../../statistics.ts';
import { type ClusterServer, listMissingPackages, type PostgresCluster, startCluster } from './cluster/cluster.ts';
import { waitUntil } from './cluster/node.ts';
import { type Excuse, MARGIN_MS, prepareLoad, type RunSummary } from './load.ts';

const PER_SECOND = 50;
const ROUNDS = 10;
const CUT_MS = 10_000;
/** After a failover, processes may need so long to reach the new primary. */
const RECOVERY_MS = 5000;

/** What happens to the primary; resolves with the instant at which there is one again. */
type Disturbance = (cluster: PostgresCluster, primary: ClusterServer) => Promise<number>;

/** The approximate duration spreads the scheduled executions. */
const DISTURBANCES: Record<string, { durationMs: number; disturb: Disturbance }> = {
  'kill -9 of the primary': {
    durationMs: 35_000,
    async disturb(cluster, primary) {
      primary.signal('SIGKILL');
      const replacedAt = await waitForAnother(cluster, primary);
      await delay(RECOVERY_MS);
      await primary.start();
      return replacedAt;
    },
  },
  'the primary freezes': {
    durationMs: 35_000,
    async disturb(cluster, primary) {
      primary.signal('SIGSTOP');
      try {
        const replacedAt = await waitForAnother(cluster, primary);
        await delay(RECOVERY_MS);
        return replacedAt;
      } finally {
        primary.signal('SIGCONT');
      }
    },
  },
  [`the primary cannot be reached for ${CUT_MS / 1000} s`]: {
    durationMs: CUT_MS + RECOVERY_MS,
    async disturb(_cluster, { proxy }) {
      proxy.cut();
      await delay(CUT_MS);
      proxy.restore();
      const restoredAt = performance.now();
      await delay(RECOVERY_MS);
      return restoredAt;
    },
  },
  switchover: {
    durationMs: 12_000,
    async disturb(cluster, primary) {
      await cluster.switchOver();
      const replacedAt = await waitForAnother(cluster, primary);
      await delay(RECOVERY_MS);
      return replacedAt;
    },
  },
};

export const failover: Benchmark = {
  about: `a PostgreSQL cluster of three servers with Patroni loses its primary, ${ROUNDS} times in each of four ways, at ${PER_SECOND} requests per second: lost and failed requests, late runs`,
  async run(stack, { quick, server }) {
    const missing = [...listMissingPackages(), ...(hasNginx() ? [] : ['nginx'])];
    if (missing.length > 0) {
      console.log(`  Not measured: ${missing.join(', ')} not installed.`);
      return [];
    }
    const { folder } = server;
    const cluster = await startCluster(stack, folder);
    // One process lists the servers, the other one leaves the choice to HAProxy.
    const databaseUrls = [cluster.listUrl, cluster.haproxyUrl] as const;
    const { run } = await prepareLoad(stack, { folder, databaseUrls, perSecond: PER_SECOND, schedulers: 2 });
    const rows: string[] = [];
    for (const [name, { durationMs, disturb }] of Object.entries(DISTURBANCES)) {
      const results: Result[] = [];
      for (let round = 1; round <= (quick ? 1 : ROUNDS); round++) {
        await cluster.waitUntilHealthy();
        let absentMs = 0;
        const fault = async (): Promise<Excuse> => {
          const primary = await cluster.findPrimary();
          if (!primary) throw new Error('There is no primary.');
          const faultAt = performance.now();
          const backAt = await disturb(cluster, primary);
          absentMs = backAt - faultAt;
          return {
            isExcused: ({ startedAt, endedAt }) => endedAt > faultAt && startedAt < backAt + RECOVERY_MS,
            maxLatenessMs: absentMs + RECOVERY_MS,
          };
        };
        const summary = await run(`${name}, round ${round}`, { durationMs: durationMs + MARGIN_MS, fault });
        results.push({ ...summary, absentMs });
      }
      rows.push(describe(name, results));
    }
    console.log(
      '\n  | fault | rounds | without a primary | requests failed | for | latest run |\n  |---|---|---|---|---|---|',
    );
    for (const row of rows) console.log(`  ${row}`);
    return [];
  },
};

interface Result extends RunSummary {
  absentMs: number;
}

async function waitForAnother(cluster: PostgresCluster, than: ClusterServer): Promise<number> {
  await waitUntil(async () => {
    const primary = await cluster.findPrimary();
    return primary !== null && primary !== than;
  }, 'there is no new primary');
  return performance.now();
}

/** From the first to the last request that failed. */
function measureFailing({ failed }: RunSummary): number {
  if (failed.length === 0) return 0;
  const first = Math.min(...failed.map(({ startedAt }) => startedAt));
  return Math.max(...failed.map(({ endedAt }) => endedAt)) - first;
}

/** Median and highest of each figure. */
function describe(name: string, results: readonly Result[]): string {
  const seconds = (values: number[]) =>
    `${formatNumber(median(values) / 1000)} s (${formatNumber(highest(values) / 1000)})`;
  const failed = results.map((result) => result.failed.length);
  const cells = [
    name,
    String(results.length),
    seconds(results.map(({ absentMs }) => absentMs)),
    `${median(failed)} (${highest(failed)}) of ${median(results.map(({ requests }) => requests))}`,
    seconds(results.map(measureFailing)),
    seconds(results.map(({ latenessMs }) => highest(latenessMs))),
  ];
  return `| ${cells.join(' | ')} |`;
}
