import { hasNginx } from '../../../../../test/system/servers/nginx.ts';
import type { Benchmark } from '../../benchmark.ts';
import { type PostgresCluster, startCluster } from './cluster/cluster.ts';
import { listMissingPackages } from './cluster/programs.ts';
import { DISTURBANCES, type Disturbance, RECOVERY_MS } from './disturbances.ts';
import { type Round, toTable } from './failover-table.ts';
import { type Excuse, MARGIN_MS, prepareLoad, type UnderLoad } from './load.ts';

const PER_SECOND = 50;
const ROUNDS = 10;

export const failover: Benchmark = {
  about: `a PostgreSQL cluster of three servers with Patroni is disturbed in ${DISTURBANCES.length} ways, by default ${ROUNDS} times each, at ${PER_SECOND} requests per second: lost and doubled work, failed requests, late runs`,
  rounds: ROUNDS,
  async run(stack, { rounds, server }) {
    const missing = [...listMissingPackages(), ...(hasNginx() ? [] : ['nginx'])];
    if (missing.length > 0) {
      console.log(`  Not measured: ${missing.join(', ')} not installed.`);
      return [];
    }
    const { folder } = server;
    const cluster = await startCluster(stack, folder);
    // One process lists the servers, the other one leaves the choice to HAProxy.
    const databaseUrls = [cluster.listUrl, cluster.haproxyUrl] as const;
    const load = await prepareLoad(stack, { folder, databaseUrls, perSecond: PER_SECOND, schedulers: 2 });
    const results = new Map<string, Round[]>();
    let errors = 0;
    try {
      for (const disturbance of DISTURBANCES) {
        const measured: Round[] = [];
        results.set(disturbance.name, measured);
        for (let round = 1; round <= rounds; round++) {
          const result = await runRound(cluster, load, disturbance, round);
          errors += result.errors.length;
          measured.push(result);
        }
      }
    } finally {
      console.log(`\n${toTable(results)}`);
    }
    if (errors > 0) throw new Error(`${errors} errors, see above.`);
    return [];
  },
};

async function runRound(
  cluster: PostgresCluster,
  load: UnderLoad,
  { name, durationMs, disturb }: Disturbance,
  round: number,
): Promise<Round & { errors: readonly string[] }> {
  await cluster.waitUntilHealthy();
  let failoverMs = 0;
  const fault = async (): Promise<Excuse> => {
    const primary = await cluster.findPrimary();
    if (!primary) throw new Error('There is no primary.');
    const faultAt = performance.now();
    const backAt = await disturb(cluster, primary);
    failoverMs = backAt - faultAt;
    return {
      isExcused: ({ startedAt, endedAt }) => endedAt > faultAt && startedAt < backAt + RECOVERY_MS,
      maxLatenessMs: failoverMs + RECOVERY_MS,
    };
  };
  const summary = await load.run(`${name}, round ${round}`, { durationMs: durationMs + MARGIN_MS, fault });
  return { ...summary, failoverMs };
}
