import { randomUUID } from 'node:crypto';
import { buildStandardHeaders, signBody } from '@carillon/api/product/deliveries/queue/secret';
import { Pool } from 'undici';
import { openConnections } from '../connections.ts';

// Claims and logs in batches, without limits, retries, recovery and checks of the receiver's address.
const { RECEIVER = '', CONCURRENCY = '1', DATABASE_URL = '' } = process.env;
const concurrency = Number(CONCURRENCY);
const BATCH_SIZE = 200;
const secret = 'whsec_0123456789abcdefghijABCDEFGHIJ01';
const query = await openConnections(DATABASE_URL, 10);
const pool = new Pool(RECEIVER, { connections: concurrency });

interface Delivery {
  id: string;
  webhook_id: string;
  url: string;
  event: string;
  payload: string;
  request_id: string;
}
type Attempt = Omit<Delivery, 'payload' | 'request_id'> & { log_id: string; status: number; ms: number; at: Date };

const CLAIM = `
  with queued as (
    select id from deliveries where status = 'pending' and queued_at is not null
    order by webhook_id, attempt desc, next_attempt_at limit $1::int for no key update skip locked
  )
  update deliveries d set status = 'sending', claim_token = $2::uuid, lease_until = $3::timestamptz,
    next_attempt_at = null, queued_at = null
  from queued, webhooks h where d.id = queued.id and h.id = d.webhook_id
  returning d.id, d.webhook_id, h.url, d.event, d.payload, d.request_id`;

const LOG = `
  with attempts as (
    select * from jsonb_to_recordset($1::text::jsonb) as e(id uuid, webhook_id uuid, url text, event text, log_id uuid,
      status int, ms int, at timestamptz)
  ), updated as (
    update deliveries d set status = 'delivered', attempt = 1, previous_attempt_at = e.at, claim_token = null,
      lease_until = null, ended_at = $2::timestamptz
    from attempts e where d.id = e.id
  )
  insert into delivery_attempts (id, delivery_id, webhook_id, event, url, attempt, success, status_code,
    response_time_ms, attempted_at)
  select log_id, id, webhook_id, event, url, 1, status < 300, status, ms, at from attempts`;

let sending = 0;
let claiming = false;
const attempts: Attempt[] = [];
let storing: Promise<void> | null = null;

async function sendPending() {
  if (claiming) return;
  claiming = true;
  while (sending < concurrency) {
    const lease = new Date(Date.now() + 30_000).toISOString();
    const claimed = await query<Delivery>(CLAIM, [Math.min(BATCH_SIZE, concurrency - sending), randomUUID(), lease]);
    if (claimed.length === 0) break;
    sending += claimed.length;
    for (const delivery of claimed) void send(delivery);
  }
  claiming = false;
  if (sending === 0 && attempts.length === 0 && !storing) {
    console.log('done');
    process.exit(0);
  }
}

async function send({ payload, request_id, ...delivery }: Delivery) {
  const at = new Date();
  const startedAt = performance.now();
  const { statusCode: status, body } = await pool.request({
    path: new URL(delivery.url).pathname,
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      'User-Agent': 'Carillon-Webhook/1.0',
      'X-Webhook-ID': delivery.webhook_id,
      'X-Webhook-Signature': signBody(secret, payload),
      'X-Request-ID': request_id,
      'X-Event-Type': delivery.event,
      'X-Delivery-Attempt': '1',
      ...buildStandardHeaders([secret], { id: delivery.id, at, body: payload }),
    },
    body: payload,
  });
  await body.dump();
  attempts.push({ ...delivery, log_id: randomUUID(), status, at, ms: Math.round(performance.now() - startedAt) });
  storing ??= store();
}

async function store() {
  while (attempts.length > 0) {
    const batch = attempts.splice(0, BATCH_SIZE);
    await query(LOG, [JSON.stringify(batch), new Date().toISOString()]);
    sending -= batch.length;
    void sendPending();
  }
  storing = null;
  void sendPending();
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(0));
await sendPending();
