import { auditLog, deliveries, endpoints, notificationAddresses, users } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { START, testContext } from '../../support/context.ts';
import { captureEvents } from '../../support/deliveries.ts';
import { createKey } from '../../support/keys.ts';
import { PASSWORD, type Person, signUp, signUpAda } from '../../support/people.ts';
import { postTask, runDue } from '../../support/tasks.ts';
import { createResources, readETag } from './resources.ts';

const { app, ctx, clock } = await testContext(t);
t.beforeEach(() => clock.set(START));

const FAILED = {
  success: false,
  error: 'Precondition failed',
  message: 'The resource has changed since this ETag. Fetch it again.',
};

type Method = 'PATCH' | 'DELETE';

const change = ({ headers }: Person, method: Method, url: string, ifMatch: string, payload?: object) =>
  app.inject({ method, url, headers: { ...headers, 'if-match': ifMatch }, ...(payload && { payload }) });

/** What a rejected change must leave as it is. */
async function snapshot({ headers, id }: Person) {
  const urls = ['/api/tasks', '/api/webhooks', '/api/user', '/api/user/settings'];
  const bodies = await Promise.all(urls.map(async (url) => (await app.inject({ url, headers })).json()));
  const [account] = await ctx.db.select().from(users).where(eq(users.id, id));
  const hooks = await ctx.db.select().from(endpoints).where(eq(endpoints.userId, id));
  const addresses = await ctx.db.select().from(notificationAddresses).where(eq(notificationAddresses.userId, id));
  const counts = [await ctx.db.$count(deliveries), await ctx.db.$count(auditLog)];
  return { bodies, account, hooks, addresses, counts };
}

t.test('A PATCH with the present ETag succeeds, and its answer has the ETag for the next one', async (t) => {
  const alice = await signUp(app);
  for (const { name, url, changes } of await createResources(app, alice)) {
    let etag = await readETag(app, alice, url);
    for (const payload of changes) {
      const answer = await change(alice, 'PATCH', url, etag, payload);
      t.equal(answer.statusCode, 200, name);
      t.not(answer.headers.etag, etag);
      etag = String(answer.headers.etag);
    }
    t.equal(await readETag(app, alice, url), etag, name);
  }
});

t.test('A change with an ETag that is not the present one is 412, and nothing has happened', async (t) => {
  const alice = await signUp(app);
  await captureEvents(ctx, alice);
  const resources = await createResources(app, alice);
  for (const { name, url, changes } of resources) {
    const old = await readETag(app, alice, url);
    await app.inject({ method: 'PATCH', url, headers: alice.headers, payload: changes[0] });
    const present = await readETag(app, alice, url);
    const before = await snapshot(alice);
    for (const given of [
      old,
      `W/${present}`,
      `${old}, W/${present}`,
      '"x"',
      '""',
      present.toUpperCase().slice(0, -2),
    ]) {
      const ifMatch = given.endsWith('"') ? given : `${given}9"`;
      for (const method of url === '/api/user/settings' ? (['PATCH'] as const) : (['PATCH', 'DELETE'] as const)) {
        const payload =
          method === 'PATCH' ? changes[1] : url === '/api/user' ? { currentPassword: PASSWORD } : undefined;
        const answer = await change(alice, method, url, ifMatch, payload);
        t.equal(answer.statusCode, 412, `${method} ${name} ${ifMatch}`);
        t.same(answer.json(), FAILED);
        t.equal(answer.headers.etag, undefined);
      }
    }
    t.same(await snapshot(alice), before, name);
  }
});

t.test('`If-Match` takes a list, `*`, and the ETag of a representation that a proxy compressed', async (t) => {
  const alice = await signUp(app);
  for (const { name, url, changes } of await createResources(app, alice)) {
    const toHeaders: ((etag: string) => string)[] = [
      (etag) => `"x", ${etag}`,
      (etag) => `W/${etag},${etag},`,
      () => '*',
      () => ' * ',
      (etag) => etag.replace(/"$/, '-gzip"'),
      (etag) => etag.replace(/"$/, '-zstd"'),
    ];
    for (const toHeader of toHeaders) {
      const ifMatch = toHeader(await readETag(app, alice, url));
      t.equal((await change(alice, 'PATCH', url, ifMatch, changes[0])).statusCode, 200, `${name} ${ifMatch}`);
    }
  }
});

t.test('DELETE with the present ETag succeeds; what is deleted then is 404 with any ETag', async (t) => {
  const alice = await signUp(app);
  const [task, webhook] = await createResources(app, alice);
  for (const { url } of [task!, webhook!]) {
    const etag = await readETag(app, alice, url);
    t.equal((await change(alice, 'DELETE', url, etag)).statusCode, 200, url);
    for (const ifMatch of [etag, '*', '"x"', `W/${etag}`]) {
      t.equal((await change(alice, 'DELETE', url, ifMatch)).statusCode, 404, `${url} ${ifMatch}`);
      t.equal((await change(alice, 'PATCH', url, ifMatch, {})).statusCode, 404, `${url} ${ifMatch}`);
    }
  }
  const etag = await readETag(app, alice, '/api/user');
  t.equal((await change(alice, 'DELETE', '/api/user', etag, { currentPassword: PASSWORD })).statusCode, 200);
});

t.test("A stranger's task or webhook is answered like one that does not exist, with any ETag", async (t) => {
  const [alice, bob, ada] = [await signUp(app), await signUp(app, { name: 'Bob' }), await signUpAda(app)];
  const [task, webhook] = await createResources(app, alice);
  const key = await createKey(app, bob);
  const before = await snapshot(alice);
  for (const { url, changes } of [task!, webhook!]) {
    const missing = url === task!.url ? '/api/tasks/2147483647' : `/api/webhooks/${crypto.randomUUID()}`;
    const present = await readETag(app, alice, url);
    for (const stranger of [bob, ada, key]) {
      const [ofStranger, ofMissing] = await Promise.all(
        [url, missing].map(async (url) => {
          const answers: string[] = [];
          const ask = async (method: 'GET' | Method, header: string, given: string) => {
            const headers = { ...stranger.headers, [header]: given };
            const payload = method === 'PATCH' ? changes[0] : undefined;
            const answer = await app.inject({ method, url, headers, ...(payload && { payload }) });
            t.equal(answer.headers.etag, undefined);
            answers.push(`${method} ${given} ${answer.statusCode} ${answer.body}`);
            return answer.statusCode;
          };
          for (const given of [present, `W/${present}`, '*', '"x"', present.replace(/\d"$/, '9"')]) {
            t.equal(await ask('PATCH', 'if-match', given), 404, given);
            t.equal(await ask('DELETE', 'if-match', given), 404, given);
            t.equal(await ask('GET', 'if-none-match', given), 404, given);
          }
          // Malformed ones.
          for (const given of ['x', present.slice(0, -1)]) {
            t.equal(await ask('PATCH', 'if-match', given), 400, given);
            await ask('DELETE', 'if-match', given);
            await ask('GET', 'if-none-match', given);
          }
          return answers;
        }),
      );
      t.same(ofStranger, ofMissing);
    }
  }
  t.same(await snapshot(alice), before);
});

t.test('A malformed `If-Match` is 400 and named, and nothing has happened', async (t) => {
  const alice = await signUp(app);
  for (const { url, changes } of await createResources(app, alice)) {
    const before = await snapshot(alice);
    for (const header of ['x', '"x', '"x" "y"', '*, "x"', '', '7']) {
      const answer = await change(alice, 'PATCH', url, header, changes[0]);
      t.equal(answer.statusCode, 400, header);
      t.match(answer.json(), { details: { 'If-Match': [/ETags in double quotes/] } });
      if (url !== '/api/user/settings') {
        const payload = url === '/api/user' ? { currentPassword: PASSWORD } : undefined;
        t.equal((await change(alice, 'DELETE', url, header, payload)).statusCode, 400, header);
      }
    }
    t.same(await snapshot(alice), before);
  }
});

t.test('An ETag of another task, or with a revision that no row has, does not match', async (t) => {
  const alice = await signUp(app);
  const [one, two] = [await postTask(app, alice), await postTask(app, alice)].map((id) => `/api/tasks/${id}`);
  const etag = await readETag(app, alice, one!);
  t.equal((await change(alice, 'PATCH', two!, etag, { name: 'Other' })).statusCode, 412);
  const webhook = (await createResources(app, alice))[1]!.url;
  for (const url of [one!, webhook]) {
    const own = await readETag(app, alice, url);
    for (const revision of ['0', '-1', '01', '1.0', '1e0', '2147483648', '99999999999999999999', '', '1 or 1=1']) {
      const forged = own.replace(/\d+"$/, `${revision}"`).replaceAll(' ', '+');
      t.equal((await change(alice, 'PATCH', url, forged, {})).statusCode, 412, forged);
    }
  }
});

t.test('A change by someone else, by a run and by the service make an ETag old', async (t) => {
  const alice = await signUp(app);
  const id = await postTask(app, alice, { aiModel: 'offline' });
  const url = `/api/tasks/${id}`;
  const webhook = (await createResources(app, alice))[1]!.url;
  const etag = await readETag(app, alice, url);
  clock.set('2026-11-20T11:00:00Z');
  await runDue(ctx);
  t.equal((await change(alice, 'PATCH', url, etag, { name: 'After a run' })).statusCode, 412);
  const active = await readETag(app, alice, webhook);
  await ctx.db.update(endpoints).set({ status: 'failed' });
  t.equal((await change(alice, 'PATCH', webhook, active, { isActive: true })).statusCode, 412);
});

t.test('Runs and tasks do not make an ETag of the user old for a change', async (t) => {
  const alice = await signUp(app);
  const etag = await readETag(app, alice, '/api/user');
  await postTask(app, alice, { aiModel: 'offline' });
  clock.set('2026-11-20T11:00:00Z');
  await runDue(ctx);
  t.not(await readETag(app, alice, '/api/user'), etag);
  t.equal((await change(alice, 'PATCH', '/api/user', etag, { name: 'Alicia' })).statusCode, 200);
});

t.test('The settings and the user are one account: a change of either makes both ETags old', async (t) => {
  const alice = await signUp(app);
  const [user, settings] = [await readETag(app, alice, '/api/user'), await readETag(app, alice, '/api/user/settings')];
  t.equal((await change(alice, 'PATCH', '/api/user', user, { name: 'Alicia' })).statusCode, 200);
  const payload = { notificationPreferences: { email: false } };
  t.equal((await change(alice, 'PATCH', '/api/user/settings', settings, payload)).statusCode, 412);
});

t.test('The webhook of a task refuses changes with 409 before it compares ETags', async (t) => {
  const alice = await signUp(app);
  await postTask(app, alice, { webhookUrl: 'https://hooks.example.com/end' });
  const [managed] = await ctx.db.select({ id: endpoints.id }).from(endpoints).where(eq(endpoints.userId, alice.id));
  const url = `/api/webhooks/${managed?.id}`;
  const etag = await readETag(app, alice, url);
  for (const ifMatch of [etag, '"x"', '*']) {
    t.equal((await change(alice, 'PATCH', url, ifMatch, { description: 'Mine' })).statusCode, 409, ifMatch);
    t.equal((await change(alice, 'DELETE', url, ifMatch)).statusCode, 409, ifMatch);
  }
  t.equal((await change(alice, 'PATCH', url, '"x"', { isActive: false })).statusCode, 412);
  t.equal((await change(alice, 'PATCH', url, etag, { isActive: false })).statusCode, 200);
  t.equal(
    (await change(alice, 'PATCH', url.toUpperCase().replace('/API/WEBHOOKS', '/api/webhooks'), '*', {})).statusCode,
    200,
  );
});

t.test('A change to the same values leaves the ETag of a task and of a webhook', async (t) => {
  const alice = await signUp(app);
  const [task, webhook] = await createResources(app, alice);
  for (const [url, payload] of [
    [task!.url, { name: 'Morning news', status: 'active' }],
    [webhook!.url, { isActive: true }],
    ['/api/user', {}],
    ['/api/user/settings', {}],
  ] as const) {
    const etag = await readETag(app, alice, url);
    for (const _ of [1, 2]) {
      t.match(await change(alice, 'PATCH', url, etag, payload), { statusCode: 200, headers: { etag } }, url);
    }
  }
});

t.test('A wrong password is reported before the ETag, and the account stays', async (t) => {
  const alice = await signUp(app);
  t.equal((await change(alice, 'DELETE', '/api/user', '"x"', { currentPassword: 'wrong' })).statusCode, 400);
  t.equal((await change(alice, 'DELETE', '/api/user', '"x"', { currentPassword: PASSWORD })).statusCode, 412);
  t.equal((await app.inject({ url: '/api/user', headers: alice.headers })).statusCode, 200);
});
