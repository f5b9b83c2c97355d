import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { connect } from '@carillon/db';
import { type AuditResult, createAudit } from '../system/audit.ts';
import { type SentRequest, startMixedLoad } from '../system/mixed-load.ts';
import { startReplicas } from '../system/replicas.ts';
import { startAiServer } from '../system/servers/ai-server.ts';
import { startReceiver } from '../system/servers/receiver.ts';
import { closeWith } from '../system/shutdown.ts';
import { insertTasks, insertUsers, postAs } from '../system/users.ts';

const PER_SECOND = 50;
/** Enough that no user reaches a quota. */
const USERS = 300;
/** Some calls are pending at each fault. */
const AI_DELAY_MS = [0, 2000] as const;
/** Before and after a fault. */
const MARGIN_MS = 3000;
/** The time limit of the statements of the audit, whose connections may lead to a server that does not answer. */
const STATEMENT_MS = 20_000;

export interface UnderLoad {
  /** Sends requests and makes tasks due until the fault is over, and compares what was acknowledged with what is there. */
  run<T>(options: { durationMs: number; fault: () => Promise<T> }): Promise<AuditResult & Sent & { fault: T }>;
}

interface Sent {
  requests: number;
  failed: SentRequest[];
}

/**
 * Starts two API processes behind nginx, to which each run sends mixed requests, and which execute scheduled tasks and deliver
 * the results to the webhooks of their owners.
 */
export async function prepareLoad(
  stack: AsyncDisposableStack,
  { folder, databaseUrls }: { folder: string; databaseUrls: readonly [string, string] },
): Promise<UnderLoad> {
  const ai = await startAiServer(stack, folder, { delayMs: AI_DELAY_MS, record: true });
  const receiver = await startReceiver(stack, folder);
  const secret = () => randomBytes(32).toString('base64');
  const jwtSecret = secret();
  const env = {
    // In production a webhook needs HTTPS.
    NODE_ENV: 'development',
    EGRESS_ALLOW: '127.0.0.0/8',
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
  const { nginx } = await startReplicas(stack, { folder, tls: null, schedulers: 2, databaseUrls, env: () => env });
  const { db, close } = connect(databaseUrls[0], { max: 4, deadlineMs: STATEMENT_MS });
  closeWith(stack, close);
  const users = await insertUsers(db, { count: USERS, jwtSecret });
  const tasks = await insertTasks(db, 2);
  const webhook = { url: `${receiver.url}/recorded`, events: ['execution.completed'] };
  for (const user of users) await postAs(user, `${nginx.url}/api/webhooks`, webhook);
  const [onDemand, scheduled] = [tasks.slice(0, USERS), tasks.slice(USERS)];
  const audit = createAudit({ db, ai, receiver, scheduled });

  return {
    async run({ durationMs, fault }) {
      await audit.scheduleOver(MARGIN_MS + durationMs);
      const sent: SentRequest[] = [];
      const onSent = (request: SentRequest) => void sent.push(request);
      const load = startMixedLoad({ url: nginx.url, users, tasks: onDemand, perSecond: PER_SECOND, onSent });
      let result: Awaited<ReturnType<typeof fault>>;
      try {
        await delay(MARGIN_MS);
        result = await fault();
        await delay(MARGIN_MS);
      } finally {
        await load.stop();
      }
      const failed = sent.filter(({ failure }) => failure !== null);
      return { ...(await audit.check(sent)), requests: sent.length, failed, fault: result };
    },
  };
}
