import { createHmac } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { getResetToken } from '../../apps/api/test/support/servers/mail-server.ts';
import { until } from '../../apps/api/test/support/until.ts';
import { buildForm, FORM, MIB } from '../../apps/api/test/support/uploads.ts';
import { createAudit } from '../system/audit.ts';
import { type SentRequest, startMixedLoad } from '../system/mixed-load.ts';
import { hasNginx } from '../system/servers/nginx.ts';
import { insertTasks, insertUsers } from '../system/users.ts';
import { CERTIFICATE } from './production/certificate.ts';
import { installProduction } from './production/installation.ts';
import { createVisitor } from './production/visitor.ts';

const PASSWORD = 'Carillon-2026';
/** Enough people for the load of the rolling restart to stay within the rate limits. */
const PEOPLE = 30;
const PER_SECOND = 20;

const canRun = process.platform === 'linux' && hasNginx();
if (!canRun && process.env.REQUIRE_PROGRAMS)
  throw new Error('REQUIRE_PROGRAMS is set, but there is no nginx on the path.');
const skip = canRun ? false : 'needs Linux and nginx (apt-get install nginx)';

t.test('Carillon works behind nginx in production mode', { skip }, async (t) => {
  const { nginx, apis, db, ai, mail, receiver, jwtSecret, logs } = await installProduction(t);
  const people = await insertUsers(db, { count: PEOPLE, jwtSecret });
  const tasks = await insertTasks(db, 2);
  const from = (address: string) => createVisitor(t, nginx.url, address);
  const alice = from('127.0.0.2');
  const secrets: string[] = [];
  let bearer = {};
  let userId = 0;
  let inbound = '';

  const register = (at: string, email: string, headers = {}) =>
    from(at).ask('POST', '/api/auth/register', { headers, body: { name: 'Alice', email, password: PASSWORD } });
  const forged = { 'x-forwarded-for': '203.0.113.9', 'x-forwarded-proto': 'http', forwarded: 'for=203.0.113.9' };

  await t.test('The service is ready and serves its documentation', async (t) => {
    for (const path of ['/api/health', '/api/health/ready']) t.equal((await alice.ask('GET', path)).status, 200, path);
    const docs = await alice.ask('GET', '/api/docs/');
    t.match(docs.headers, { 'content-type': /^text\/html/ });
    const [, script = ''] = /<script src="([^"]+)"/.exec(docs.bytes.toString()) ?? [];
    const loaded = await alice.ask('GET', new URL(script, `${nginx.url}/api/docs/`).pathname);
    t.match(loaded, { status: 200, headers: { 'content-type': /javascript/ } });
  });

  await t.test('A session has the address of its client, even if the client forges headers', async (t) => {
    t.equal((await register('127.0.0.2', 'alice@example.com')).status, 201);
    const signedIn = await alice.ask('POST', '/api/auth/login', {
      headers: { ...forged, 'x-request-token': 'true' },
      body: { email: 'alice@example.com', password: PASSWORD },
    });
    t.equal(signedIn.status, 200);
    const [cookie = ''] = signedIn.headers['set-cookie'] ?? [];
    t.match(cookie, /^local-session=[^;]+; Max-Age=604800; Path=\/; HttpOnly; Secure; SameSite=Lax$/);
    bearer = { authorization: `Bearer ${signedIn.json.token}` };
    const { json } = await alice.ask('GET', '/api/auth/sessions', { headers: bearer });
    t.match(json.sessions, [{ address: '127.0.0.2' }]);
    userId = (await alice.ask('GET', '/api/user', { headers: bearer })).json.user.id;

    const own = { cookie: cookie.split(';')[0] ?? '' };
    const byCookie = (site: string) =>
      alice.ask('PATCH', '/api/user', { headers: { ...own, 'sec-fetch-site': site }, body: { name: 'Alice A.' } });
    t.equal((await byCookie('cross-site')).status, 403);
    t.equal((await byCookie('same-origin')).status, 200);
  });

  await t.test('Rate limits by address count each client separately', async (t) => {
    const statuses: number[] = [];
    for (const n of [1, 2, 3, 4]) statuses.push((await register('127.0.0.3', `bob-${n}@example.com`)).status);
    t.strictSame(statuses, [201, 201, 201, 429]);
    t.equal((await register('127.0.0.3', 'bob-5@example.com', forged)).status, 429, 'a forged address does not help');
    t.equal((await register('127.0.0.4', 'ada@example.com')).status, 201);
  });

  await t.test('An upload of 10 MiB is served unchanged', async (t) => {
    const content = Buffer.alloc(10 * MIB, 'The moons of Saturn are many. ');
    const body = buildForm({ name: 'moons.txt', type: 'text/plain', content });
    const { status, json } = await alice.ask('POST', '/api/upload', { headers: { ...bearer, ...FORM }, body });
    t.equal(status, 200);
    t.ok(json.url.startsWith(`${nginx.url}/files/`), json.url);
    const { pathname } = new URL(json.url);
    t.ok((await alice.ask('GET', pathname)).bytes.equals(content));
    secrets.push(pathname);
  });

  await t.test('A task runs once, at its time, and its webhook is called', async (t) => {
    const events = ['execution.completed'];
    const { json } = await alice.ask('POST', '/api/webhooks', { headers: bearer, body: { url: receiver.url, events } });
    const { secret } = json.webhook;
    const prompt = 'Name a moon of Saturn, once.';
    const scheduledFor = new Date(Date.now() + 2000).toISOString();
    const body = { name: 'Once', prompt, scheduledFor, recurrence: 'once', timezone: 'Europe/Berlin' };
    const created = await alice.ask('POST', '/api/agent/create-task', { headers: bearer, body });
    t.equal(created.status, 201);
    await until(() => receiver.received.length > 0);
    const [delivery] = receiver.received;
    const signature = createHmac('sha256', secret)
      .update(delivery?.body ?? '')
      .digest('hex');
    t.equal(delivery?.headers['x-webhook-signature'], `sha256=${signature}`);
    const list = await alice.ask('GET', `/api/executions?taskId=${created.json.taskId}`, { headers: bearer });
    t.match(list.json.executions, [{ status: 'completed', plannedFor: scheduledFor }]);
    t.equal(list.json.executions.length, 1);
    t.equal(ai.requests.length, 1);

    inbound = `/api/webhooks/${userId}/${secret}`;
    t.equal((await alice.ask('GET', inbound)).status, 200);
    secrets.push(inbound);

    const feed = await alice.ask('POST', '/api/user/feed', { headers: bearer });
    const { pathname } = new URL(feed.json.url);
    t.equal((await alice.ask('GET', pathname)).status, 200);
    secrets.push(pathname, pathname.slice('/feeds/'.length, -'.atom'.length));
  });

  await t.test('The link in a reset mail works', async (t) => {
    await alice.ask('POST', '/api/auth/forgot-password', { body: { email: 'alice@example.com' } });
    const isReset = ({ text = '' }: { text?: string | undefined }) => /reset/i.test(text);
    await until(() => mail.received.some(isReset));
    const token = getResetToken(mail.received.find(isReset) as (typeof mail.received)[number]);
    t.equal((await alice.ask('GET', `/api/auth/validate-reset-token?token=${token}`)).status, 200);
    secrets.push(token);
  });

  await t.test('An answer is streamed before the model has finished, and a client that hangs up ends it', async (t) => {
    const asked = {
      headers: { ...bearer, accept: 'text/event-stream' },
      body: { message: 'Name the moons of Saturn.' },
    };
    const text = 'Titan, Rhea, Iapetus, Dione, Tethys, Enceladus and Mimas. '.repeat(20);
    ai.answer(() => ({ text, cut: { after: 60, by: 'stall' } }));
    const stalled = await alice.open('POST', '/api/agent/process', asked);
    let received = '';
    for await (const chunk of stalled) {
      received += chunk;
      // The model has stalled: a buffered event would never arrive.
      if (received.includes('event: content')) break;
    }
    t.match(received, /event: content\ndata: \{"text":"Titan/);
    await ai.requests.at(-1)?.hungUp;
    ai.answer(() => ({ text }));
    const whole = await alice.ask('POST', '/api/agent/process', asked);
    t.match(whole.bytes.toString(), /event: content[\s\S]*event: done\n/);
  });

  await t.test('A rolling restart loses no request and no execution', async (t) => {
    const arrivals = async () => ai.requests.splice(0).map(({ body }) => String(body.messages.at(-1)?.content));
    const toArrival = (prompt: string) => ({ prompt, at: 0, monotonicMs: 0 });
    const audit = createAudit({
      db,
      ai: { takeArrivals: async () => (await arrivals()).map(toArrival) },
      scheduled: tasks.slice(PEOPLE),
    });
    ai.answer(() => ({ delayMs: 500 }));
    await audit.scheduleOver(10_000);
    const onDemand = tasks.slice(0, PEOPLE);
    const sent: SentRequest[] = [];
    const load = startMixedLoad({
      url: nginx.url,
      users: people,
      tasks: onDemand,
      perSecond: PER_SECOND,
      onSent: (request) => sent.push(request),
      ca: CERTIFICATE,
    });
    const asking = new AbortController();
    const statuses = new Set<number>();
    const ask = async () => {
      const other = from('127.0.0.5');
      while (!asking.signal.aborted) {
        statuses.add((await other.ask('GET', inbound)).status);
        await delay(500, undefined, { signal: asking.signal }).catch(() => {});
      }
    };
    const asked = ask();
    for (const api of apis) await api.restart();
    asking.abort();
    await Promise.all([asked, load.stop()]);
    t.strictSame(
      sent.filter(({ failure }) => failure !== null),
      [],
    );
    t.strictSame([...statuses], [200]);
    t.strictSame((await audit.check(sent)).errors, []);
  });

  await t.test('No log contains a secret URL', async (t) => {
    const text = logs();
    t.match(text, /"GET \(secret URL\)" 200/);
    for (const secret of [...secrets, PASSWORD, ...secrets.map((one) => one.split('/').at(-1) as string)])
      t.notOk(text.includes(secret), secret);
  });
});
