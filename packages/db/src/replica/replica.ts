import { AsyncLocalStorage } from 'node:async_hooks';
import { databaseErrorCode, databaseErrorMessage, isDatabaseUnavailable, SQLSTATE } from '../errors.ts';
import type { Run, Send } from '../pool/connection.ts';
import { createLogHistory } from './log-history.ts';
import { type ReplicaServer, readSample } from './server.ts';

type ReplicaStatus = 'unknown' | 'ready' | 'behind' | 'away' | 'other database';

export interface ReplicaState {
  /** Host and port. */
  server: string;
  status: ReplicaStatus;
  /** Null while it is not known; at most an hour. */
  lagMs: number | null;
  /** Why it is away. */
  error?: unknown;
}

/** A standby answered a statement, or why the primary did. */
export const REPLICA_OUTCOMES = ['answered', 'not_ready', 'behind', 'conflict', 'error'] as const;
type ReplicaOutcome = (typeof REPLICA_OUTCOMES)[number];

/** Reads from standbys that follow the primary. `D` is the database with its queries. */
export interface Replica<D> {
  /**
   * Each statement of `work` outside of transactions is answered by a standby that is at most `maxLagMs` behind, and by the
   * primary otherwise: no error of a standby shows, except in time.
   */
  read<T>(work: (db: D) => Promise<T>): Promise<T>;
  states(): ReplicaState[];
  /** Statements so far. */
  outcomes(): Readonly<Record<ReplicaOutcome, number>>;
}

export interface ReplicaOptions {
  /** A standby that is further behind is not read. Default: 10,000. */
  maxLagMs?: number;
  /** How often lag is measured. Default: 1000. */
  sampleMs?: number;
  /** Called when a status changes. */
  onChange?: (state: ReplicaState) => void;
}

interface Reading {
  /** Once the primary has answered a statement, it answers the others, so that no later one sees less. */
  usesPrimary: boolean;
}

export function createReplica<D>(
  servers: readonly ReplicaServer[],
  primary: { db: D; run: Run },
  openDb: (run: Run) => D,
  { maxLagMs = 10_000, sampleMs = 1000, onChange = () => {} }: ReplicaOptions,
): Replica<D> & { close(timeoutMs: number): Promise<void> } {
  const readings = new AsyncLocalStorage<Reading>();
  const history = createLogHistory();
  const states = new Map<ReplicaServer, ReplicaState>(
    servers.map((server) => [server, { server: server.name, status: 'unknown', lagMs: null }]),
  );
  const outcomes: Record<ReplicaOutcome, number> = { answered: 0, not_ready: 0, behind: 0, conflict: 0, error: 0 };
  let turn = 0;

  function setState(server: ReplicaServer, status: ReplicaStatus, lagMs: number | null, error?: unknown) {
    const before = states.get(server)?.status;
    const state = { server: server.name, status, lagMs, ...(error !== undefined && { error }) };
    states.set(server, state);
    if (status !== before) onChange(state);
  }

  async function watch(server: ReplicaServer) {
    const sampled = await server.sample().catch((error: unknown) => ({ error }));
    if ('error' in sampled) return setState(server, 'away', null, sampled.error);
    // The log of a standby that follows the primary ends where that of the primary has ended before.
    const { logPosition, cluster, database } = await readSample(primary.run);
    const now = performance.now();
    history.add(logPosition, now);
    const isStandby =
      sampled.cluster === cluster && sampled.database === database && sampled.logPosition <= logPosition;
    if (!isStandby) return setState(server, 'other database', null);
    const lagMs = history.lagAt(sampled.logPosition, now);
    setState(server, lagMs > maxLagMs ? 'behind' : 'ready', lagMs);
  }

  const watched = new Set<ReplicaServer>();
  const watchAll = () => {
    for (const server of servers) {
      if (watched.has(server)) continue;
      watched.add(server);
      // An unreachable primary shows in every request.
      watch(server)
        .catch(() => {})
        .finally(() => watched.delete(server));
    }
  };
  const timer = setInterval(watchAll, sampleMs).unref();
  watchAll();

  function pickServer(): ReplicaServer | undefined {
    const ready = servers.filter((server) => states.get(server)?.status === 'ready');
    turn += 1;
    return ready[turn % ready.length];
  }

  /** Returns null if the primary has to answer. */
  async function runOnReplica<T>(server: ReplicaServer, send: Send<T>): Promise<[T] | null> {
    const minimum = history.positionAt(performance.now() - maxLagMs);
    try {
      const { logPosition, answer } = await server.ask(send);
      if (logPosition < minimum) {
        outcomes.behind += 1;
        return null;
      }
      const answered = await answer;
      outcomes.answered += 1;
      return [answered];
    } catch (error) {
      // At the primary it would take as long again.
      if (isStatementTimeout(error)) throw error;
      outcomes[isConflict(error) ? 'conflict' : 'error'] += 1;
      if (isDatabaseUnavailable(error) && databaseErrorCode(error) !== 'DATABASE_BUSY') {
        setState(server, 'away', null, error);
      }
      return null;
    }
  }

  const run: Run = async (send) => {
    const reading = readings.getStore();
    if (!reading || reading.usesPrimary) return primary.run(send);
    const server = pickServer();
    if (!server) outcomes.not_ready += 1;
    const answered = server && (await runOnReplica(server, send));
    if (answered) return answered[0];
    reading.usesPrimary = true;
    return primary.run(send);
  };

  const db = openDb(run);
  return {
    read: (work) => readings.run({ usesPrimary: false }, () => work(db)),
    states: () => [...states.values()],
    outcomes: () => outcomes,
    async close(timeoutMs) {
      clearInterval(timer);
      await Promise.all(servers.map((server) => server.close(timeoutMs)));
    },
  };
}

/** Of replay: it removes rows, or takes locks, that the statement needs. */
const isConflict = (error: unknown) => databaseErrorCode(error) === SQLSTATE.serializationFailure;

const isStatementTimeout = (error: unknown) =>
  databaseErrorCode(error) === SQLSTATE.queryCanceled && !/recovery/.test(databaseErrorMessage(error) ?? '');
