import { createHmac, randomUUID } from 'node:crypto';
import type { EventKind } from '@carillon/contract/webhooks/events';
import type { DeliveryAttempt, DeliveryAttemptDetails } from '@carillon/contract/webhooks/webhooks';
import { connect, deliveries, endpoints } from '@carillon/db';
import { asc, eq } from 'drizzle-orm';
import type { FastifyInstance } from 'fastify';
import type { Test } from 'tap';
import type { Context } from '../../src/context.ts';
import type { Config } from '../../src/lib/config/config.ts';
import { recordEvents } from '../../src/platform/events/outbox.ts';
import { createDeliverer } from '../../src/product/deliveries/queue/deliverer.ts';
import { encryptSecret, generateSecret } from '../../src/product/deliveries/queue/secret.ts';
import { inTransaction } from '../../src/transaction.ts';
import { START, type TestContextOptions, testContext } from './context.ts';
import { type Person, signUpAlice, signUpBob } from './people.ts';
import { startReceiver } from './servers/receiver.ts';

/** The body of `POST /api/webhooks`. */
export const WEBHOOK = { url: 'https://hooks.example.com/carillon', events: ['task.created', 'task.updated'] };

/** Valid and invalid ids without a webhook. */
export const UNKNOWN_WEBHOOK_IDS = ['0', '1', 'abc', '%00', '%20', 'null', '00000000-0000-4000-8000-000000000000'];

/**
 * Webhooks of Alice and Bob, with a receiver. Each test starts at `START` without webhooks; `deliver` sends what is due,
 * `wakes` counts how often the deliverer was woken.
 */
export async function testWebhooks(t: Test, given: Pick<TestContextOptions, 'env'> = {}) {
  const wakes = { count: 0 };
  const test = await testContext(t, { ...given, worker: { wakeDeliveries: () => void wakes.count++ } });
  const { app, ctx, clock } = test;
  const alice = await signUpAlice(app);
  const bob = await signUpBob(app);
  const receiver = await startReceiver(t);
  t.beforeEach(async () => {
    await ctx.db.delete(endpoints);
    receiver.received.length = 0;
    receiver.answer(200);
    clock.set(START);
    wakes.count = 0;
  });
  return { ...test, alice, bob, receiver, wakes, deliver: () => createDeliverer(ctx).drain() };
}

export interface CreatedWebhook {
  id: string;
  userId: number;
  url: string;
  secret: string;
  events: EventKind[];
  isActive: boolean;
  createdAt: string;
}

/** Creates a webhook by HTTP from `WEBHOOK` and `given`. */
export async function postWebhook(app: FastifyInstance, person: Person, given: object = {}): Promise<CreatedWebhook> {
  const answer = await tryWebhook(app, person, given);
  if (answer.statusCode !== 201) throw new Error(answer.body);
  return answer.json().webhook;
}

export const tryWebhook = (app: FastifyInstance, { headers }: Person, given: object = {}) =>
  app.inject({ method: 'POST', url: '/api/webhooks', headers, payload: { ...WEBHOOK, ...given } });

/** Calls one of the routes of a webhook; `path` begins after its id. */
export const callWebhook = (
  app: FastifyInstance,
  { headers }: Person,
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
  id: string,
  path = '',
  payload?: object,
) => app.inject({ method, url: `/api/webhooks/${id}${path}`, headers, ...(payload && { payload }) });

export const readWebhook = async (app: FastifyInstance, person: Person, id: string) =>
  (await callWebhook(app, person, 'GET', id)).json().webhook;

/** The details of all entries, newest first. */
export async function readLog(app: FastifyInstance, person: Person, id: string): Promise<DeliveryAttemptDetails[]> {
  const { logs }: { logs: DeliveryAttempt[] } = (await callWebhook(app, person, 'GET', id, '/logs?limit=100')).json();
  const show = (log: DeliveryAttempt) => callWebhook(app, person, 'GET', id, `/logs/${log.id}`);
  return (await Promise.all(logs.map(show))).map((answer) => answer.json().log);
}

type NewWebhook = Partial<typeof endpoints.$inferInsert>;

/** Inserts a webhook for each URL, beyond the limits of a user and in any state. */
export async function insertWebhooks(
  ctx: Context,
  userId: number,
  urls: readonly string[],
  values: NewWebhook = {},
): Promise<{ id: string; url: string; secret: string }[]> {
  const at = { createdAt: ctx.now(), updatedAt: ctx.now() };
  const made = urls.map((url) => ({ id: randomUUID(), url, secret: generateSecret() }));
  const rows = made.map(({ id, url, secret }) => {
    return { id, userId, url, events: ['task.updated'], ...encryptSecret(ctx, id, secret), ...at, ...values };
  });
  await ctx.db.insert(endpoints).values(rows);
  return made;
}

/** Records events in one transaction; `data.n` numbers them. */
export function recordManyEvents(
  ctx: Context,
  userId: number,
  count: number,
  kind: EventKind = 'task.updated',
  data: object = {},
) {
  const events = Array.from({ length: count }, (_, n) => ({ kind, userId, data: { n, ...data } }));
  return inTransaction(ctx, async (tx) => recordEvents(tx, events));
}

/** Oldest first. */
export const readDeliveries = (ctx: Context, webhookId: string) =>
  ctx.db
    .select()
    .from(deliveries)
    .where(eq(deliveries.webhookId, webhookId))
    .orderBy(asc(deliveries.createdAt), asc(deliveries.id));

/** `X-Webhook-Signature`, computed independently of the code under test. */
export const computeSignature = (secret: string, body: string | Buffer) =>
  `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;

export const inboundPath = ({ userId, secret }: { userId: number | string; secret: string }) =>
  `/api/webhooks/${userId}/${secret}`;

/** Sends an inbound call. Default: signed with the webhook's secret. */
export function sendInbound(
  app: FastifyInstance,
  webhook: CreatedWebhook,
  payload: string | object,
  given: { signature?: string; path?: string; type?: string } = {},
) {
  const body = typeof payload === 'string' ? payload : JSON.stringify(payload);
  const {
    signature = computeSignature(webhook.secret, body),
    path = inboundPath(webhook),
    type = 'application/json',
  } = given;
  const headers = { 'content-type': type, 'x-webhook-signature': signature };
  return app.inject({ method: 'POST', url: path, headers, payload: body });
}

/** The context of another process: the same database and clock, its own pool. */
export function connectSecondProcess(
  t: { teardown(work: () => Promise<void>): unknown },
  { ctx, databaseUrl }: { ctx: Context; databaseUrl: string },
  config: Partial<Config> = {},
): Context {
  const { db, close } = connect(databaseUrl, { max: 4 });
  t.teardown(close);
  return { ...ctx, db, config: { ...ctx.config, ...config } };
}
