import { setTimeout as delay } from 'node:timers/promises';
import { queryRows } from '@carillon/db';
import { sql } from 'drizzle-orm';
import type { Benchmark } from '../benchmark.ts';
import { subscribe, WEBHOOK_ENV } from '../benchmarks/webhooks.ts';
import { install } from '../environment/installation.ts';
import { startReceiver } from '../environment/servers/receiver.ts';
import { insertUsers, postAs, type User } from '../environment/users.ts';
import { printPercentiles } from '../statistics.ts';

const USERS = 20;
const WEBHOOKS_EACH = 10;
const EVENTS_PER_SECOND = 20;
const SECONDS = 60;

export const hangingReceivers: Benchmark = {
  about: `delivery delay at ${EVENTS_PER_SECOND} events per second, each to 5 receivers that hang and 5 that answer`,
  async run(stack, environment) {
    const { db, apiUrl, jwtSecret } = await install(stack, environment, { apiEnv: { ...WEBHOOK_ENV } });
    const receiver = await startReceiver(stack, environment.server.folder);
    const users = await insertUsers(db, { count: USERS, jwtSecret });
    const urls = Array.from(
      { length: WEBHOOKS_EACH },
      (_, n) => `${receiver.url}/${n % 2 === 0 ? 'hang' : 'timed'}/${n}`,
    );
    await subscribe(apiUrl, users, urls);
    const events = EVENTS_PER_SECOND * (environment.quick ? 1 : SECONDS);
    const startedAt = performance.now();
    const posts: Promise<unknown>[] = [];
    for (let n = 0; n < events; n++) {
      const user = users[n % users.length] as User;
      posts.push(postAs(user, `${apiUrl}/api/agent/create-task`, { ...TASK, name: `Task ${n}` }));
      await delay(Math.max(0, startedAt + ((n + 1) * 1000) / EVENTS_PER_SECOND - performance.now()));
    }
    await Promise.all(posts);
    await delay(3000);
    const { agesMs } = await receiver.takeCounts();
    const [row] = await queryRows<{ sending: number }>(
      db,
      sql`select count(*)::int as sending from deliveries where status = 'sending'`,
    );
    console.log(`${agesMs.length} of ${(events * WEBHOOKS_EACH) / 2} arrived; ${row?.sending} are pending`);
    printPercentiles({ 'from event to arrival (ms)': agesMs });
    return [];
  },
};

const TASK = {
  prompt: 'Write one sentence that begins a working day well.',
  scheduledFor: '2099-01-01T07:30:00Z',
  recurrence: 'once',
  timezone: 'UTC',
};
