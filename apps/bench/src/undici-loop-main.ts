import { randomUUID } from 'node:crypto';
import { signBody, standardHeaders } from '@carillon/api/webhooks/signature';
import { Pool } from 'undici';

// What there is to compare with: the same signed POSTs, from memory, with nothing written down.
const { RECEIVER = '', COUNT = '0', CONCURRENCY = '1', BODY = '' } = process.env;
const secret = 'whsec_0123456789abcdefghijABCDEFGHIJ01';
const pool = new Pool(RECEIVER, { connections: Number(CONCURRENCY) });
let left = Number(COUNT);

async function sendOne() {
  const id = randomUUID();
  const headers = {
    'Content-Type': 'application/json',
    'User-Agent': 'Carillon-Webhook/1.0',
    'X-Webhook-ID': id,
    'X-Webhook-Signature': signBody(secret, BODY),
    'X-Request-ID': id,
    'X-Event-Type': 'task.updated',
    'X-Delivery-Attempt': '1',
    ...standardHeaders([secret], { id, at: new Date(), body: BODY }),
  };
  const { body, statusCode } = await pool.request({ path: '/loop', method: 'POST', headers, body: BODY });
  await body.dump();
  if (statusCode > 299) throw new Error(`The receiver answered ${statusCode}.`);
}

async function lane() {
  while (left > 0) {
    left -= 1;
    await sendOne();
  }
}
const startedAt = performance.now();
await Promise.all(Array.from({ length: Number(CONCURRENCY) }, lane));
console.log(`done in ${Math.round(performance.now() - startedAt)} ms`);
await pool.close();
