import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Benchmark, Environment } from '../benchmark.ts';
import { connectDatabase } from '../environment/installation.ts';
import { type SentRequest, startMixedLoad } from '../environment/mixed-load.ts';
import { startReplicas } from '../environment/replicas.ts';
import { startAiServer } from '../environment/servers/ai-server.ts';
import { hasNginx } from '../environment/servers/nginx.ts';
import { insertTasks, insertUsers } from '../environment/users.ts';
import { printPercentiles } from '../statistics.ts';
import { createAudit } from './faults-audit.ts';

const PER_SECOND = 100;
/** Enough that no user reaches a quota. */
const USERS = 300;
/** Some calls are pending at each stop, all shorter than the shutdown grace of 20 s. */
const AI_DELAY_MS = [0, 2000] as const;
const MARGIN_MS = 3000;
const ROUNDS = 10;
/** The approximate duration of a restart. */
const RESTART_MS = 5000;

export const faults: Benchmark = {
  about: `lost and failed requests of two processes behind nginx at ${PER_SECOND} requests per second: rolling restarts, kill -9, restart of PostgreSQL`,
  async run(stack, environment) {
    if (!hasNginx()) {
      console.log('  Not measured: nginx is not installed.');
      return [];
    }
    const { apis, runUnderLoad } = await setUp(stack, environment);
    const [first] = apis;
    const rounds = environment.quick ? 1 : ROUNDS;
    await runUnderLoad(`${rounds} rolling restarts`, rounds * apis.length * RESTART_MS, async () => {
      for (let round = 0; round < rounds; round++) for (const api of apis) await api.restart();
      return () => false;
    });

    await runUnderLoad('kill -9 of one of two', MARGIN_MS + RESTART_MS, async () => {
      const faultAt = performance.now();
      first.process().signal('SIGKILL');
      await first.process().exited;
      const killedAt = performance.now();
      await delay(MARGIN_MS);
      await first.start();
      // nginx notices the closed connections with a short delay.
      return ({ startedAt, endedAt }) => startedAt < killedAt + 100 && endedAt > faultAt;
    });

    await runUnderLoad('restart of PostgreSQL', 2 * MARGIN_MS, async () => {
      const faultAt = performance.now();
      await environment.server.stop();
      await delay(MARGIN_MS);
      await environment.server.start();
      const restartedAt = performance.now();
      await delay(MARGIN_MS);
      // The processes reconnect with a short delay.
      return ({ startedAt, endedAt }) => startedAt < restartedAt + 2000 && endedAt > faultAt;
    });
    return [];
  },
};

/** Causes a fault and returns which failed requests it excuses. */
type Fault = () => Promise<(failed: SentRequest) => boolean>;

/** `runUnderLoad` throws when a fault loses anything or fails other requests than it excuses. */
async function setUp(stack: AsyncDisposableStack, { server }: Environment) {
  const { folder } = server;
  const databaseUrl = await server.newDatabase();
  const db = connectDatabase(stack, databaseUrl);
  const ai = await startAiServer(stack, folder, { delayMs: AI_DELAY_MS, record: true });
  const secret = () => randomBytes(32).toString('base64');
  const jwtSecret = secret();
  const env = {
    DATABASE_URL: databaseUrl,
    DATA_DIR: folder,
    BASE_URL: 'https://carillon.example.com',
    AI_BASE_URL: ai.url,
    STORAGE_DRIVER: 'disk',
    SMTP_URL: 'smtp://127.0.0.1:9',
    MAIL_FROM: 'carillon@example.com',
    JWT_SECRET: jwtSecret,
    ENCRYPTION_KEY: secret(),
    CRON_SECRET: secret(),
    ADMIN_KEY: secret(),
    RATE_LIMIT_MULTIPLIER: '100000',
  };
  const { nginx, apis } = await startReplicas(stack, { folder, tls: null, env: () => env });
  const users = await insertUsers(db, { count: USERS, jwtSecret });
  const tasks = await insertTasks(db, 2);
  const audit = createAudit({ db, ai, scheduled: tasks.slice(USERS) });

  async function runUnderLoad(name: string, durationMs: number, fault: Fault): Promise<void> {
    const onDemand = tasks.slice(0, USERS);
    await audit.scheduleOver(MARGIN_MS + durationMs);
    const sent: SentRequest[] = [];
    const load = startMixedLoad({
      url: nginx.url,
      users,
      tasks: onDemand,
      perSecond: PER_SECOND,
      onSent: (request) => sent.push(request),
    });
    const since = performance.now();
    let isExcused: Awaited<ReturnType<Fault>>;
    try {
      await delay(MARGIN_MS);
      isExcused = await fault();
      await delay(MARGIN_MS);
    } finally {
      await load.stop();
    }
    const seconds = (performance.now() - since) / 1000;
    const failed = sent.filter(({ failure }) => failure !== null);
    console.log(`\n  ${name}: ${sent.length} requests in ${Math.round(seconds)} s, ${failed.length} failed`);
    for (const line of new Set(failed.map(describeFailure))) console.log(`  failed: ${line}`);
    const result = await audit.check(sent);
    console.log(`  ${result.runs} executions, ${result.interruptions} interrupted and recovered`);
    printPercentiles({ '  lateness of scheduled executions (ms)': result.latenessMs });
    const errors = [...failed.filter((request) => !isExcused(request)).map(describeFailure), ...result.errors];
    for (const line of errors.slice(0, 20)) console.log(`  ERROR: ${line}`);
    if (errors.length > 0) throw new Error(`${name}: ${errors.length} errors, first: ${errors[0]}`);
  }
  return { apis, runUnderLoad };
}

const describeFailure = ({ kind, status, failure }: SentRequest) =>
  `${kind}: ${status ?? 'no answer'}, ${failure?.replaceAll(/\s+/g, ' ')}`;
