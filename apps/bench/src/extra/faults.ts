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
/** Enough for nobody to reach a quota. */
const PEOPLE = 300;
/** Some are under way at each stop, none for longer than the 20 s that a process waits for them. */
const AI_DELAY_MS = [0, 2000] as const;
const AROUND_MS = 3000;
const ROUNDS = 10;
/** About how long the restart of one process takes. */
const RESTART_MS = 5000;

/** What an operator does on purpose, and what happens to operators: nothing that was acknowledged may be lost by it. */
export const faults: Benchmark = {
  about: `two processes behind nginx at ${PER_SECOND} requests a second: rolling restarts, kill -9, PostgreSQL restarted`,
  async run(stack, environment) {
    if (!hasNginx()) {
      console.log('  not measured: there is no nginx, and a proxy of our own would prove nothing.');
      return [];
    }
    const { apis, runUnderLoad } = await setUp(stack, environment);
    const [first] = apis;
    const rounds = environment.quick ? 1 : ROUNDS;
    await runUnderLoad(`${rounds} rolling restarts`, rounds * apis.length * RESTART_MS, async () => {
      for (let round = 0; round < rounds; round++) for (const api of apis) await api.restart();
      return () => false;
    });

    await runUnderLoad('kill -9 of one of two', AROUND_MS + RESTART_MS, async () => {
      const at = performance.now();
      first.process().signal('SIGKILL');
      await first.process().exited;
      const deadAt = performance.now();
      await delay(AROUND_MS);
      await first.start();
      // What was under way on it; nginx hears of the end of its connections a moment later.
      return ({ startedAt, endedAt }) => startedAt < deadAt + 100 && endedAt > at;
    });

    await runUnderLoad('PostgreSQL restarted', 2 * AROUND_MS, async () => {
      const at = performance.now();
      await environment.server.stop();
      await delay(AROUND_MS);
      await environment.server.start();
      const backAt = performance.now();
      await delay(AROUND_MS);
      // Connections to it are opened anew a moment later.
      return ({ startedAt, endedAt }) => startedAt < backAt + 2000 && endedAt > at;
    });
    return [];
  },
};

/** The fault; says afterwards which requests may have failed by it. */
type Fault = () => Promise<(failed: SentRequest) => boolean>;

/** The installation, and what tries a fault on it under load and throws when anything was lost by it. */
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
  const people = await insertUsers(db, { count: PEOPLE, jwtSecret });
  const tasks = await insertTasks(db, 2);
  const audit = createAudit({ db, ai, scheduled: tasks.slice(PEOPLE) });

  async function runUnderLoad(name: string, overMs: number, fault: Fault): Promise<void> {
    const onDemand = tasks.slice(0, PEOPLE);
    await audit.scheduleOver(AROUND_MS + overMs);
    const load = startMixedLoad({ url: nginx.url, people, tasks: onDemand, perSecond: PER_SECOND });
    const since = performance.now();
    let mayFail: Awaited<ReturnType<Fault>>;
    try {
      await delay(AROUND_MS);
      mayFail = await fault();
      await delay(AROUND_MS);
    } finally {
      await load.stop();
    }
    const seconds = (performance.now() - since) / 1000;
    const failed = load.sent.filter(({ failure }) => failure !== null);
    console.log(`\n  ${name}: ${load.sent.length} requests in ${Math.round(seconds)} s, ${failed.length} failed`);
    for (const line of new Set(failed.map(describeFailure))) console.log(`  failed: ${line}`);
    const found = await audit.check(load.sent);
    console.log(`  ${found.runs} runs, ${found.interruptions} times one was interrupted and taken over`);
    printPercentiles({ '  scheduled runs, late by (ms)': found.latenessMs });
    const wrong = [...failed.filter((one) => !mayFail(one)).map(describeFailure), ...found.errors];
    for (const line of wrong.slice(0, 20)) console.log(`  WRONG: ${line}`);
    if (wrong.length > 0) throw new Error(`${name}: ${wrong.length} things are wrong, first: ${wrong[0]}`);
  }
  return { apis, runUnderLoad };
}

const describeFailure = ({ kind, status, failure }: SentRequest) =>
  `${kind}: ${status ?? 'no answer'}, ${failure?.replaceAll(/\s+/g, ' ')}`;
