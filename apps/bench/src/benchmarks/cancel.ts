import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { type Db, queryRows } from '@carillon/db';
import { sql } from 'drizzle-orm';
import { closeWith } from '../../../../test/system/shutdown.ts';
import { insertTasks, insertUsers, postAs, setDue, type User } from '../../../../test/system/users.ts';
import { type Benchmark, measureInRounds } from '../benchmark.ts';
import { install } from '../environment/installation.ts';
import { formatNumber, median } from '../statistics.ts';

/** As many as a user may have running. */
const TASKS_EACH = 5;
/** So many processes run half of them each. */
const CONCURRENCY = 100;
const SPREAD_MS = 3000;
const TIMEOUT_MS = 30_000;

interface Waits {
  own: number[];
  other: number[];
}

export const cancel: Benchmark = {
  about:
    'POST /api/executions/:id/cancel, for runs of two processes: from the response until their connections to the AI server are closed',
  async run(stack, environment) {
    const count = environment.quick ? 20 : 2 * CONCURRENCY;
    const provider = await startSilentProvider(stack);
    const jwtSecret = 'the processes share this secret, of 48 characters';
    const env = (name: string) => ({
      JWT_SECRET: jwtSecret,
      AI_BASE_URL: `${provider.url}/${name}`,
      EXECUTION_CONCURRENCY: String(count / 2),
    });
    const { db, databaseUrl, apiUrl } = await install(stack, environment, { apiEnv: env('own') });
    await install(stack, environment, { databaseUrl, scheduler: false, apiEnv: env('other') });
    const users = await insertUsers(db, { count: count / TASKS_EACH, jwtSecret });
    await insertTasks(db, TASKS_EACH);

    const results = await measureInRounds(
      environment.rounds,
      { carillon: () => cancelAll(db, { apiUrl, users, count, provider }) },
      ({ own, other }) => `max ${formatNumber(Math.max(...own))} and ${formatNumber(Math.max(...other))} ms`,
    );
    const values = (of: (waits: Waits) => number) => results.carillon.map(of);
    return [
      {
        what: 'until the connection is closed, on another process, p50',
        unit: 'ms',
        values: values(({ other }) => median(other)),
      },
      {
        what: 'until the connection is closed, on another process, max',
        unit: 'ms',
        values: values(({ other }) => Math.max(...other)),
        aim: { atMost: 2000 },
      },
      {
        what: 'until the connection is closed, on the process that was asked, max',
        unit: 'ms',
        values: values(({ own }) => Math.max(...own)),
        aim: { atMost: 2000 },
        note: `${count} runs per round, cancelled over ${SPREAD_MS / 1000} s`,
      },
    ];
  },
};

interface Provider {
  url: string;
  /** The prompts that wait, with the process that asks. */
  open: Map<string, keyof Waits>;
  closedAt: Map<string, number>;
}

/** Never answers. */
async function startSilentProvider(stack: AsyncDisposableStack): Promise<Provider> {
  const open: Provider['open'] = new Map();
  const closedAt: Provider['closedAt'] = new Map();
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { messages } = JSON.parse(Buffer.concat(chunks).toString()) as { messages: { content: string }[] };
    const prompt = messages.at(-1)?.content ?? '';
    open.set(prompt, request.url?.startsWith('/own/') ? 'own' : 'other');
    response.once('close', () => closedAt.set(prompt, performance.now()));
  });
  closeWith(stack, async () => {
    server.closeAllConnections();
    server.close();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, open, closedAt };
}

interface Target {
  apiUrl: string;
  users: readonly User[];
  count: number;
  provider: Provider;
}

/** Runs all tasks, cancels the runs at random moments at one process, and returns how long their connections stayed open. */
async function cancelAll(db: Db, { apiUrl, users, count, provider }: Target): Promise<Waits> {
  const { open, closedAt } = provider;
  open.clear();
  closedAt.clear();
  await setDue(db, new Date());
  await until(() => open.size === count);
  const runs = await queryRows<{ id: number; userId: number; prompt: string }>(
    db,
    sql`
    select e.id, e.user_id as "userId", t.prompt from executions e join tasks t on t.id = e.task_id
    where e.status = 'running'`,
  );
  const userById = new Map(users.map((user) => [user.id, user]));
  const answeredAt = new Map<string, number>();
  await Promise.all(
    runs.map(async ({ id, userId, prompt }) => {
      await delay(Math.random() * SPREAD_MS);
      await postAs(userById.get(userId) as User, `${apiUrl}/api/executions/${id}/cancel`, {});
      answeredAt.set(prompt, performance.now());
    }),
  );
  await until(() => closedAt.size === count);
  const waits: Waits = { own: [], other: [] };
  for (const [prompt, process] of open) {
    waits[process].push(Math.max(0, (closedAt.get(prompt) ?? Number.NaN) - (answeredAt.get(prompt) ?? Number.NaN)));
  }
  return waits;
}

async function until(isTrue: () => boolean): Promise<void> {
  const deadline = performance.now() + TIMEOUT_MS;
  while (!isTrue()) {
    if (performance.now() > deadline) throw new Error('The runs did not start or end in time.');
    await delay(10);
  }
}
