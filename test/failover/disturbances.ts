import { setTimeout as delay } from 'node:timers/promises';
import type { ClusterServer, PostgresCluster } from './cluster/cluster.ts';
import { waitUntil } from './cluster/wait-until.ts';

const CUT_MS = 10_000;
/** How long processes may need after a failover to reach the new primary. */
export const RECOVERY_MS = 5000;

export interface Disturbance {
  name: string;
  /** Approximate. The scheduled executions are spread over it. */
  durationMs: number;
  /** Causes it and ends it. Resolves with the instant at which commits were possible again, by `performance.now()`. */
  disturb(cluster: PostgresCluster, primary: ClusterServer): Promise<number>;
}

export const DISTURBANCES: readonly Disturbance[] = [
  {
    name: 'kill -9 of the primary',
    durationMs: 25_000,
    async disturb(cluster, primary) {
      primary.signal('SIGKILL');
      const replacedAt = await waitForAnother(cluster, primary);
      await delay(RECOVERY_MS);
      await primary.start();
      return replacedAt;
    },
  },
  {
    name: 'the primary freezes, and continues after its replacement',
    durationMs: 25_000,
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
  {
    name: `the primary cannot be reached for ${CUT_MS / 1000} s`,
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
  {
    name: 'the standby for which commits wait freezes',
    durationMs: 25_000,
    async disturb(cluster, primary) {
      const standby = await cluster.findSynchronousStandby();
      if (!standby) throw new Error('There is no synchronous standby.');
      standby.signal('SIGSTOP');
      try {
        await cluster.commit(primary);
        const replacedAt = performance.now();
        await delay(RECOVERY_MS);
        return replacedAt;
      } finally {
        standby.signal('SIGCONT');
      }
    },
  },
  {
    name: 'switchover',
    durationMs: 7000,
    async disturb(cluster, primary) {
      const [replacedAt] = await Promise.all([waitForAnother(cluster, primary), cluster.switchOver()]);
      await delay(RECOVERY_MS);
      return replacedAt;
    },
  },
];

async function waitForAnother(cluster: PostgresCluster, than: ClusterServer): Promise<number> {
  await waitUntil(async () => {
    const primary = await cluster.findPrimary();
    return primary !== null && primary !== than;
  }, 'there is no new primary');
  return performance.now();
}
