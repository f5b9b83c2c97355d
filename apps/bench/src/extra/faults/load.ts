import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { type AuditResult, createAudit } from '../../../../../test/system/audit.ts';
import { type SentRequest, startMixedLoad } from '../../../../../test/system/mixed-load.ts';
import { type Replica, startReplicas } from '../../../../../test/system/replicas.ts';
import { startAiServer } from '../../../../../test/system/servers/ai-server.ts';
import { startReceiver } from '../../../../../test/system/servers/receiver.ts';
import { insertTasks, insertUsers, postAs } from '../../../../../test/system/users.ts';
import { WEBHOOK_ENV } from '../../benchmarks/webhooks.ts';
import { connectDatabase } from '../../environment/installation.ts';
import { printPercentiles } from '../../statistics.ts';

/** Enough that no user reaches a quota. */
const USERS = 300;
/** Some calls are pending at each stop, all shorter than the shutdown grace of 20 s. */
const AI_DELAY_MS = [0, 2000] as const;
export const MARGIN_MS = 3000;
/** The time limit of the statements of the audit, whose connections may lead to a server that does not answer. */
const STATEMENT_MS = 20_000;
const MAX_PRINTED = 20;

/** What a fault excuses. */
export interface Excuse {
  isExcused(failed: SentRequest): boolean;
  /** How late a scheduled execution may start, in milliseconds. Default: any lateness. */
  maxLatenessMs?: number;
}

/** Causes a fault and returns what it excuses. */
export type Fault = () => Promise<Excuse>;

export interface UnderLoad {
  apis: readonly [Replica, Replica];
  /** Prints what it finds. `errors` has a line for all that was lost or doubled, and that failed or was late without excuse. */
  run(name: string, options: { durationMs: number; fault: Fault }): Promise<RunSummary>;
}

export interface RunSummary extends AuditResult {
  requests: number;
  failed: SentRequest[];
}

export interface UnderLoadOptions {
  folder: string;
  /** Of each API process, and for the checks. */
  databaseUrls: readonly [string, string];
  perSecond: number;
  /** Default: 1. */
  schedulers?: number;
}

/**
 * Starts two API processes behind nginx, to which each run sends mixed requests, and which execute scheduled tasks and deliver
 * the results to the webhooks of their owners.
 */
export async function prepareLoad(stack: AsyncDisposableStack, options: UnderLoadOptions): Promise<UnderLoad> {
  const { folder, databaseUrls, perSecond, schedulers = 1 } = options;
  const ai = await startAiServer(stack, folder, { delayMs: AI_DELAY_MS, record: true });
  const receiver = await startReceiver(stack, folder);
  const secret = () => randomBytes(32).toString('base64');
  const jwtSecret = secret();
  const env = {
    ...WEBHOOK_ENV,
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
  const { nginx, apis } = await startReplicas(stack, {
    folder,
    tls: null,
    schedulers,
    databaseUrls,
    env: () => env,
  });
  const db = connectDatabase(stack, databaseUrls[0], STATEMENT_MS);
  const users = await insertUsers(db, { count: USERS, jwtSecret });
  const tasks = await insertTasks(db, 2);
  const webhook = { url: `${receiver.url}/recorded`, events: ['execution.completed'] };
  for (const user of users) await postAs(user, `${nginx.url}/api/webhooks`, webhook);
  const [onDemand, scheduled] = [tasks.slice(0, USERS), tasks.slice(USERS)];
  const audit = createAudit({ db, ai, receiver, scheduled });

  async function run(name: string, { durationMs, fault }: { durationMs: number; fault: Fault }): Promise<RunSummary> {
    await audit.scheduleOver(MARGIN_MS + durationMs);
    const sent: SentRequest[] = [];
    const onSent = (request: SentRequest) => void sent.push(request);
    const load = startMixedLoad({ url: nginx.url, users, tasks: onDemand, perSecond, onSent });
    const since = performance.now();
    let excuse: Excuse;
    try {
      await delay(MARGIN_MS);
      excuse = await fault();
      await delay(MARGIN_MS);
    } finally {
      await load.stop();
    }
    const seconds = (performance.now() - since) / 1000;
    const failed = sent.filter(({ failure }) => failure !== null);
    console.log(`\n  ${name}: ${sent.length} requests in ${Math.round(seconds)} s, ${failed.length} failed`);
    for (const line of new Set(failed.map(describeFailure))) console.log(`  failed: ${line}`);
    const found = await audit.check(sent);
    const { runs, interruptions, repeatedCalls, repeatedDeliveries, latenessMs } = found;
    console.log(`  ${runs} executions, ${interruptions} interrupted and recovered`);
    console.log(`  ${repeatedCalls} calls and ${repeatedDeliveries} deliveries repeated`);
    printPercentiles({ '  lateness of scheduled executions (ms)': latenessMs });
    const errors = [...listUnexcused({ failed, latenessMs }, excuse), ...found.errors];
    for (const line of errors.slice(0, MAX_PRINTED)) console.log(`  ERROR: ${line}`);
    if (errors.length > MAX_PRINTED) console.log(`  ERROR: and ${errors.length - MAX_PRINTED} more`);
    return { ...found, errors, requests: sent.length, failed };
  }
  return { apis, run };
}

/** Throws if a run has found an error. */
export function assertNoErrors(name: string, { errors }: Pick<RunSummary, 'errors'>): void {
  if (errors.length > 0) throw new Error(`${name}: ${errors.length} errors, first: ${errors[0]}`);
}

function listUnexcused({ failed, latenessMs }: Pick<RunSummary, 'failed' | 'latenessMs'>, excuse: Excuse): string[] {
  const { isExcused, maxLatenessMs = Number.POSITIVE_INFINITY } = excuse;
  const late = latenessMs.filter((ms) => ms > maxLatenessMs);
  return [
    ...failed.filter((request) => !isExcused(request)).map(describeFailure),
    ...late.map((ms) => `an execution started ${Math.round(ms)} ms late, ${Math.round(maxLatenessMs)} are excused`),
  ];
}

const describeFailure = ({ kind, status, failure }: SentRequest) =>
  `${kind}: ${status ?? 'no answer'}, ${failure?.replaceAll(/\s+/g, ' ')}`;
