import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { type CHANNEL_KINDS, type Db, queryRows } from '@carillon/db';
import { sql } from 'drizzle-orm';
import type { Benchmark, Environment } from '../../benchmark.ts';
import { WEBHOOK_ENV } from '../../benchmarks/webhooks.ts';
import { connectDatabase } from '../../environment/installation.ts';
import { findStablePort } from '../../environment/ports.ts';
import { resolveProgram, startProcess } from '../../environment/processes.ts';
import { insertUsers, postAs, type User } from '../../environment/users.ts';
import { checkDeliveries } from './check.ts';
import { startTargets, type Targets, toTurn } from './targets.ts';

type Kind = (typeof CHANNEL_KINDS)[number];

const DELIVERIES = 10_000;
/** Few enough that the log keeps all attempts. */
const EACH_CHANNEL = 50;
const EACH_KIND = 2;
const KILLS = 8;
const LEASE_MS = 2000;
const TIMEOUT_MS = 300_000;
const RETRY_DELAYS_MS = [0, 500, 500, 1000, 1000, 2000, 2000, 2000];

export const channels: Benchmark = {
  about:
    'lost messages of 10,000 to channels of every kind whose targets fail, over 8 × kill -9 of one of two processes',
  async run(stack, environment) {
    const targets = await startTargets(stack);
    const { db, apiUrl, kill, jwtSecret } = await startProcesses(stack, environment, targets);
    const kinds = Object.keys(SETTINGS).length;
    const people = environment.quick ? 2 : Math.ceil(DELIVERIES / EACH_CHANNEL / EACH_KIND / kinds);
    const users = await insertUsers(db, { count: people, jwtSecret });
    const count = await createChannels(db, apiUrl, users, targets);
    const kills = environment.quick ? 1 : KILLS;
    const total = environment.quick ? 10 * count : DELIVERIES;
    const startedAt = performance.now();
    let cut = 0;
    let written = 0;
    for (let round = 0; round <= kills; round++) {
      const upTo = Math.round((total * (round + 1)) / (kills + 1));
      const before = targets.accepted.size;
      await insertMessages(db, written, upTo);
      written = upTo;
      if (round === kills) break;
      await until(() => targets.accepted.size - before > 50 && targets.open >= 5);
      await kill(round % 2, async () => {
        cut += await countDeliveries(db, "'sending'");
      });
    }
    await until(async () => (await countDeliveries(db, "'pending', 'sending', 'held'")) === 0);
    const seconds = (performance.now() - startedAt) / 1000;
    await checkDeliveries(db, targets, { total, cut, kills, seconds });
    return [];
  },
};

/** `kill` ends one of two processes with kill -9, calls `meanwhile`, and starts it again. */
async function startProcesses(stack: AsyncDisposableStack, { server }: Environment, targets: Targets) {
  const { folder } = server;
  const databaseUrl = await server.newDatabase();
  const secret = () => randomBytes(32).toString('base64');
  const jwtSecret = secret();
  const env = {
    ...WEBHOOK_ENV,
    DATABASE_URL: databaseUrl,
    DATA_DIR: folder,
    AI_BASE_URL: 'offline',
    SMTP_URL: targets.smtpUrl,
    MAIL_FROM: 'carillon@example.com',
    TELEGRAM_API_URL: targets.url,
    JWT_SECRET: jwtSecret,
    ENCRYPTION_KEY: secret(),
    CRON_SECRET: secret(),
    ADMIN_KEY: secret(),
    RATE_LIMIT_MULTIPLIER: '100000',
    EXECUTION_LEASE_MS: String(LEASE_MS),
    WEBHOOK_RETRY_DELAYS_MS: RETRY_DELAYS_MS.join(','),
  };
  const start = async (name: string, port: number) =>
    startProcess(stack, {
      name,
      file: resolveProgram('../../api/src/main.ts'),
      folder,
      env: { ...env, PORT: String(port) },
      ready: /Server listening at ([^\s"]+)/,
    });
  const ports = [await findStablePort(), await findStablePort()];
  const apis = await Promise.all(ports.map((port, n) => start(`api-${n + 1}`, port)));
  return {
    db: connectDatabase(stack, databaseUrl),
    apiUrl: apis[0]?.ready ?? '',
    jwtSecret,
    async kill(n: number, meanwhile: () => Promise<void>) {
      const api = apis[n];
      api?.signal('SIGKILL');
      await api?.exited;
      await meanwhile();
      apis[n] = await start(`api-${n + 1}`, ports[n] ?? 0);
    },
  };
}

/** Through the API, which encrypts their settings. One of each sixteen sends once a minute. */
async function createChannels(db: Db, apiUrl: string, users: readonly User[], targets: Targets): Promise<number> {
  let n = 0;
  for (const user of users) {
    for (let round = 0; round < EACH_KIND; round++) {
      for (const [kind, toSettings] of Object.entries(SETTINGS)) {
        const settings = toSettings(`chan${n}x`, targets.url);
        if ('address' in settings) {
          await db.execute(sql`insert into notification_addresses (user_id, email, confirmed_at)
            values (${user.id}, ${settings.address}, now())`);
        }
        const pacing = toTurn(n) === 2 ? { minIntervalMinutes: 1 } : {};
        await postAs(user, `${apiUrl}/api/channels`, { kind, name: `Channel ${n}`, ...settings, ...pacing });
        n += 1;
      }
    }
  }
  const [row] = await queryRows<{ active: number }>(
    db,
    sql`select count(*)::int as active from webhooks where status = 'active' and purpose = 'channel'`,
  );
  if (row?.active !== n) throw new Error(`${row?.active} of ${n} channels are active`);
  return n;
}

const toHook = (channel: string, url: string) => ({ url: `${url}/hooks/${channel}` });

const SETTINGS: Record<Kind, (channel: string, url: string) => Record<string, unknown>> = {
  slack: toHook,
  mattermost: toHook,
  teams: toHook,
  discord: toHook,
  telegram: (channel) => ({ botToken: `1:${channel}${'a'.repeat(30)}`, chatId: '1' }),
  ntfy: (channel, url) => ({ url, topic: channel }),
  apprise: (channel, url) => ({ url, key: channel }),
  email: (channel) => ({ address: `${channel}@example.com` }),
};

/** Writes the messages with the numbers from `from` up to `to`, one after the other over all channels, as the outbox does. */
async function insertMessages(db: Db, from: number, to: number): Promise<void> {
  await db.execute(sql`
    with channels as (
      select id, user_id, min_interval_minutes is not null as is_held, row_number() over (order by id) - 1 as position,
        count(*) over () as of
      from webhooks where purpose = 'channel'
    )
    insert into deliveries (id, webhook_id, event, payload, request_id, status, next_attempt_at, queued_at, created_at)
    select gen_random_uuid(), c.id, 'execution.completed', json_build_object('event', 'execution.completed', 'timestamp',
        now(), 'webhookId', c.id, 'userId', c.user_id, 'data', json_build_object(
          'task', json_build_object('id', 1, 'name', 'msg' || n || 'z'),
          'execution', json_build_object('id', n, 'result', ${ANSWER}::text))),
      'bench', case when is_held then 'held' else 'pending' end, now(), case when not is_held then now() end, now()
    from generate_series(${from}::int, ${to}::int - 1) n join channels c on c.position = n % c.of`);
}

const ANSWER = '## Weather\n\nSunny with **clouds**, [more](https://example.com/weather).\n\n- 12 °C\n- no rain\n';

async function countDeliveries(db: Db, statuses: string): Promise<number> {
  const [row] = await queryRows<{ count: number }>(
    db,
    sql`select count(*)::int as count from deliveries where status in (${sql.raw(statuses)})`,
  );
  return row?.count ?? 0;
}

async function until(what: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + TIMEOUT_MS;
  while (!(await what())) {
    if (performance.now() > deadline) throw new Error('The messages were not sent in time.');
    await delay(20);
  }
}
