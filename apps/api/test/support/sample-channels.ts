import { randomUUID } from 'node:crypto';
import type { MessageEvent } from '@carillon/contract/channels/deliveries';
import { ALERT_KINDS, type ChannelKind, deliveries, deliveryAttempts, endpoints, tasks } from '@carillon/db';
import { eq, inArray } from 'drizzle-orm';
import type { Context } from '../../src/context.ts';
import { encryptUnindexedSecret } from '../../src/product/deliveries/queue/secret.ts';
import { SAMPLE_NOW, type Sample } from './sample.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const ago = (ms: number) => new Date(SAMPLE_NOW.getTime() - ms);

/** Of a mail server, which has no status. */
const ACCEPTED = 250;

type Row = typeof endpoints.$inferInsert;
type Status = (typeof deliveries.$inferInsert)['status'];

interface Sent {
  event: MessageEvent;
  task?: string;
  at: Date;
  status?: Status;
  /** The answers to the attempts; an error instead of a status is a text. */
  answers?: readonly (number | string)[];
  waitsUntil?: Date;
  digestId?: string;
  payload?: object;
}

/** Inserts a delivery of a channel with its attempts. Returns its id. */
async function insertMessage({ db }: Context, webhookId: string, sent: Sent): Promise<string> {
  const { event, task = 'Nightly error digest', at, status = 'delivered', answers = [200] } = sent;
  const id = randomUUID();
  const timestamp = at.toISOString();
  const data = sent.payload ?? {
    task: { id: 4, name: task, status: 'active' },
    execution: { id: 48_213, status: 'completed', result: 'Nothing new.', error: 'The provider did not answer.' },
    failuresInRow: 3,
    error: 'The provider did not answer within 60 s.',
  };
  const isOpen = status === 'pending' || status === 'held';
  await db.insert(deliveries).values({
    id,
    webhookId,
    event,
    payload: JSON.stringify({ event, timestamp, webhookId, userId: 1, data }),
    requestId: randomUUID(),
    attempt: answers.length,
    createdAt: at,
    status,
    digestId: sent.digestId ?? null,
    nextAttemptAt: isOpen ? (sent.waitsUntil ?? at) : null,
    endedAt: isOpen ? null : at,
  });
  const attempts = answers.map((answer, index) => {
    const success = typeof answer === 'number' && answer < 300;
    const statusCode = typeof answer === 'number' && answer !== ACCEPTED ? answer : null;
    const error = typeof answer === 'string' ? answer : `The target answered ${answer}.`;
    const attemptedAt = new Date(at.getTime() + index * index * MINUTE_MS);
    const row = { id: randomUUID(), deliveryId: id, webhookId, event, url: '', attempt: index + 1, attemptedAt };
    return {
      ...row,
      success,
      statusCode,
      error: success ? null : error,
      responseTimeMs: 90 + ((at.getTime() / 1000) % 97),
    };
  });
  if (attempts.length > 0) await db.insert(deliveryAttempts).values(attempts);
  return id;
}

/** Adds channels of several kinds with their messages to the sample of a user. Returns their ids. */
export async function insertChannels(ctx: Context, userId: number, sample: Pick<Sample, 'tasks'>) {
  const insert = async (
    kind: ChannelKind,
    name: string,
    shownSettings: Record<string, string>,
    row: Partial<Row> = {},
  ) => {
    const id = randomUUID();
    const events = ['execution.completed', 'execution.failed', ...ALERT_KINDS];
    const secret = encryptUnindexedSecret(ctx, id, JSON.stringify({ ...shownSettings, token: 'a secret' }));
    const at = { createdAt: ago(40 * 24 * HOUR_MS), updatedAt: ago(40 * 24 * HOUR_MS) };
    const common = {
      id,
      userId,
      purpose: 'channel' as const,
      kind,
      name,
      shownSettings,
      url: 'https://example.com',
      events,
    };
    await ctx.db.insert(endpoints).values({ ...common, ...secret, ...at, ...row });
    return id;
  };
  const day = { createdAt: ago(20 * 24 * HOUR_MS) };
  const team = await insert('email', 'Team, once a day', { address: 'team@gartenhof.example' }, { status: 'inactive' });
  const mail = await insert(
    'email',
    'Me, once a day',
    { address: 'alice@example.com' },
    {
      ...day,
      digest: 'daily',
      digestHour: 8,
      digestTimezone: 'Europe/Berlin',
      urgent: true,
    },
  );
  const failed = await insert('discord', '#status of the shop', { host: 'discord.com' }, { status: 'failed' });
  const phone = await insert(
    'ntfy',
    'My phone',
    { url: 'https://ntfy.example.com', topic: 'gartenhof-k7Qe2' },
    {
      ...day,
      quiet: { from: '22:00', to: '07:00', timezone: 'Europe/Berlin' },
      minIntervalMinutes: 10,
      urgent: true,
      isForAccount: true,
    },
  );
  const slack = await insert('slack', '#shop-ops', { host: 'hooks.slack.com' }, { createdAt: ago(HOUR_MS) });
  for (let at = 28; at > 1; at -= 1) {
    const task = at % 4 === 0 ? 'Competitor price watch' : 'Nightly error digest';
    const answers = at === 9 ? [503, 'The target did not answer within 30 s.', 200] : [200];
    await insertMessage(ctx, slack, {
      event: at === 6 ? 'execution.failed' : 'execution.completed',
      task,
      at: ago(at * 7 * HOUR_MS),
      answers,
    });
  }
  await insertMessage(ctx, slack, { event: 'task.failing', at: ago(3 * HOUR_MS), answers: [429, 200] });
  await insertMessage(ctx, slack, {
    event: 'execution.completed',
    at: ago(4 * MINUTE_MS),
    status: 'pending',
    answers: [503],
    waitsUntil: ago(-MINUTE_MS),
  });
  for (const at of [5, 4, 2]) {
    await insertMessage(ctx, failed, {
      event: 'execution.completed',
      at: ago(at * 24 * HOUR_MS),
      answers: at === 2 ? [404] : [204],
      status: at === 2 ? 'failed' : 'delivered',
    });
  }
  for (const at of [30, 20, 10])
    await insertMessage(ctx, phone, { event: 'execution.completed', at: ago(at * HOUR_MS) });
  await insertMessage(ctx, phone, {
    event: 'execution.completed',
    at: ago(20 * MINUTE_MS),
    status: 'held',
    answers: [],
    waitsUntil: ago(-2 * HOUR_MS),
  });
  const messages = ['Nightly error digest', 'Competitor price watch'].map((name) => ({
    event: 'execution.completed',
    timestamp: SAMPLE_NOW.toISOString(),
    data: { task: { id: 1, name }, execution: { id: 1, result: '' } },
  }));
  const digestId = await insertMessage(ctx, mail, {
    event: 'digest',
    at: ago(9 * HOUR_MS),
    payload: { messages },
    answers: [ACCEPTED],
  });
  for (const [index, task] of ['Nightly error digest', 'Competitor price watch'].entries()) {
    await insertMessage(ctx, mail, {
      event: 'execution.completed',
      task,
      at: ago((10 + index) * HOUR_MS),
      status: 'digested',
      answers: [],
      digestId,
    });
  }
  const use = async (names: readonly string[], channels: string[]) => {
    const ids = names.map((name) => sample.tasks.get(name)).filter((id) => id !== undefined);
    if (ids.length > 0) await ctx.db.update(tasks).set({ channels }).where(inArray(tasks.id, ids));
  };
  await use([...sample.tasks.keys()].slice(0, 4), [slack, phone]);
  await use(['Competitor price watch'], [mail, slack]);
  await ctx.db
    .update(endpoints)
    .set({ lastSentAt: ago(HOUR_MS) })
    .where(eq(endpoints.id, phone));
  return { team, mail, failed, phone, slack };
}
