import { createHmac, randomBytes } from 'node:crypto';
import t from 'tap';
import { verifyWebhook, WebhookVerificationError } from '../src/index.ts';
import { catchError } from './hostile-server.ts';

const SECRET = `whsec_${randomBytes(24).toString('base64url')}`;
const now = () => Math.floor(Date.now() / 1000);

const buildBody = (ageSeconds = 0) =>
  JSON.stringify({
    event: 'task.failed',
    timestamp: new Date(Date.now() - ageSeconds * 1000).toISOString(),
    webhookId: 'w',
    userId: 7,
    data: { task: { id: 1, name: 'é' } },
  });

function signTimed(body: string, { secret = SECRET, id = 'msg_1', at = String(now()) } = {}) {
  const key = secret.startsWith('whsec_') ? Buffer.from(secret.slice(6), 'base64') : secret;
  const signature = createHmac('sha256', key).update(`${id}.${at}.${body}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': `v1,${signature}` };
}

const signBody = (body: string, secret = SECRET) => ({
  'X-Webhook-Signature': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
});

const reject = (...given: Parameters<typeof verifyWebhook>) =>
  catchError(verifyWebhook(...given), WebhookVerificationError);

t.test('A genuine delivery is accepted with any kind of headers and body', async (t) => {
  const body = buildBody();
  const headers = { ...signTimed(body), ...signBody(body) };
  const upper = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), [value]]));
  for (const given of [headers, new Headers(headers), upper]) {
    for (const raw of [body, Buffer.from(body), new Uint8Array(Buffer.from(body)).buffer]) {
      const event = await verifyWebhook(given, raw, SECRET);
      if (event.event === 'task.failed') t.equal(event.data.task.name, 'é');
      else t.fail('another event');
    }
  }
});

t.test('A delivery signed with one of several secrets is accepted, as during a rotation', async (t) => {
  const body = buildBody();
  await verifyWebhook(signTimed(body), body, ['whsec_old', SECRET]);
  const { 'webhook-signature': other } = signTimed(body, { secret: 'whsec_b3RoZXI=' });
  const both = signTimed(body);
  await verifyWebhook({ ...both, 'webhook-signature': `${other} v2,x ${both['webhook-signature']}` }, body, SECRET);
  t.equal((await verifyWebhook(signTimed(body, { secret: 'my own secret!' }), body, 'my own secret!')).userId, 7);
});

t.test('A wrong, missing or malformed signature is refused', async (t) => {
  const body = buildBody();
  const good = signTimed(body);
  for (const headers of [
    {},
    signTimed(body, { secret: 'whsec_b3RoZXI=' }),
    { ...good, 'webhook-id': 'msg_2' },
    { ...good, 'webhook-timestamp': String(now() - 1) },
    { ...good, 'webhook-signature': '' },
    { ...good, 'webhook-signature': 'v1,' },
    { ...good, 'webhook-signature': 'v1,***' },
    { ...good, 'webhook-signature': good['webhook-signature'].replace('v1,', 'v2,') },
    { 'X-Webhook-Signature': 'sha256=' },
    signBody(body, 'other'),
    { ...signBody(body), 'webhook-id': 'a timed delivery whose signature was removed' },
  ]) {
    await reject(headers as Record<string, string>, body, SECRET);
  }
  t.equal((await reject(good, `${body} `, SECRET)).message, 'The signature is missing or wrong.');
});

t.test('A delivery beyond the tolerance is refused, also if the headers with the time were removed', async (t) => {
  const body = buildBody();
  for (const at of [now() - 310, now() + 310]) await reject(signTimed(body, { at: String(at) }), body, SECRET);
  await verifyWebhook(signTimed(body, { at: String(now() - 310) }), body, SECRET, { toleranceSeconds: 400 });
  await reject(signTimed(body, { at: 'now' }), body, SECRET);
  const old = buildBody(310);
  await verifyWebhook(signTimed(old), old, SECRET);
  await reject(signBody(old), old, SECRET);
  t.equal((await verifyWebhook(signBody(body), body, SECRET)).event, 'task.failed');
});

t.test('A signed body that is not an event is refused', async () => {
  for (const body of ['', 'null', '7', '{}', '{"event":7}']) await reject(signTimed(body), body, SECRET);
});

t.test('An empty secret is a mistake of the caller', async (t) => {
  for (const secret of ['', [], ['']]) await t.rejects(verifyWebhook({}, '', secret), TypeError);
});
