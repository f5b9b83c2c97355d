import type { AddressInfo } from 'node:net';
import { auditLog, rateWindows, settings, tasks, users } from '@carillon/db';
import { eq, like, sql } from 'drizzle-orm';
import t from 'tap';
import { buildApp } from '../../src/entry/app.ts';
import { AppError, preconditionFailed } from '../../src/errors.ts';
import { findClientName } from '../../src/handlers/mcp/client-name.ts';
import { describeToolError } from '../../src/handlers/mcp/tool-errors.ts';
import { TOOLS } from '../../src/handlers/mcp/tools/index.ts';
import { testContext } from '../support/context.ts';
import { untilBlocked } from '../support/database.ts';
import { createKey } from '../support/keys.ts';
import { connect, connectEarlier, ENVELOPE, envelopeHeaders, post } from '../support/mcp.ts';
import { signUp } from '../support/people.ts';
import { startOtlpServer } from '../support/servers/otlp-server.ts';
import { until } from '../support/until.ts';

const { app, ctx, logged } = await testContext(t);
const other = await buildApp(ctx, { maxEventLoopDelayMs: Number.POSITIVE_INFINITY });
t.teardown(() => other.close());
for (const one of [app, other]) await one.listen({ host: '127.0.0.1', port: 0 });
const addressOf = ({ server }: typeof app) => new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`);
const url = addressOf(app);

const SCHEDULE = { scheduledFor: '2027-01-01T17:00', recurrence: 'weekly', timezone: 'Europe/Lisbon' };
const NEW = { ...SCHEDULE, name: 'Prices', prompt: 'Compare these two prices.' };
const CLIENTS = [connect, connectEarlier];

t.test('100 calls at once of both clients to two processes are answered, and each is counted', async (t) => {
  const alice = await signUp(app);
  const { headers } = await createKey(app, alice);
  const clients = await Promise.all(
    [app, other].flatMap((one) => CLIENTS.map((open) => open(addressOf(one), headers))),
  );
  const count = async (bucket: string) => {
    const [row] = await ctx.db
      .select()
      .from(rateWindows)
      .where(eq(rateWindows.key, `${bucket} user ${alice.id}`));
    return row?.count ?? 0;
  };
  const before = [await count('POST /mcp'), await count('other endpoints')];
  const answers = await Promise.all(
    Array.from({ length: 100 }, (_, n) => {
      const client = clients[n % clients.length];
      const given = { ...SCHEDULE, scheduledFor: `2027-01-01T17:${String(n % 60).padStart(2, '0')}`, count: 1 };
      return client?.callTool({ name: 'preview_schedule', arguments: given });
    }),
  );
  for (const [n, answer] of answers.entries()) {
    t.match(answer?.structuredContent, { nextRuns: [{ local: new RegExp(`17:${String(n % 60).padStart(2, '0')}`) }] });
  }
  t.same(
    [await count('POST /mcp'), await count('other endpoints')],
    before.map((counted) => counted + 100),
  );
  for (const client of clients) await client.close();
});

t.test('Refused calls reach both clients as results that say what to do', async (t) => {
  const limited = await testContext(t, { env: { RATE_LIMIT_MULTIPLIER: '0.1' } });
  const to = new URL('/mcp', await limited.app.listen({ host: '127.0.0.1', port: 0 }));
  for (const open of CLIENTS) {
    const alice = await signUp(limited.app);
    const reader = await createKey(limited.app, alice, { scopes: ['tasks:read'] });
    const { headers } = await createKey(limited.app, alice);
    const readsOnly = await open(to, reader.headers);
    const client = await open(to, headers);
    // Later clients check the answers by the schemas of the list.
    t.equal((await client.listTools()).tools.length, TOOLS.length);
    const expect = async (answer: unknown, code: string, text: RegExp) => {
      t.match(answer, { isError: true, content: [{ type: 'text', text }] }, code);
      t.match(answer, { _meta: { 'carillon/error': { code } } }, code);
    };
    const create = () => client.callTool({ name: 'create_task', arguments: NEW });
    await expect(
      await readsOnly.callTool({ name: 'create_task', arguments: NEW }),
      'MISSING_SCOPE',
      /scope tasks:write.*\n.*\/settings\/keys/,
    );
    await expect(await client.callTool({ name: 'get_task', arguments: { taskId: 999 } }), 'NOT_FOUND', /not found/i);
    t.notOk((await create()).isError);
    await expect(await create(), 'RATE_LIMIT_EXCEEDED', /again in \d+ seconds/);
    const { hits } = (await limited.app.inject({ url: '/api/usage', headers: alice.headers })).json().rateLimits ?? {};
    t.not(hits, 0);
    await client.close();
    await readsOnly.close();
  }
});

t.test('A used-up quota says which one it is, and where it is shown', async (t) => {
  const { headers } = await createKey(app, await signUp(app));
  const client = await connect(url, headers);
  const answers = [];
  for (let n = 0; n < 11; n++) answers.push(await client.callTool({ name: 'create_task', arguments: NEW }));
  t.match(answers.at(-1), {
    isError: true,
    content: [{ text: /quota of 10 .*\n.*\/usage/ }],
    _meta: { 'carillon/error': { code: 'QUOTA_EXCEEDED', status: 402, details: { limit: 10 } } },
  });
  await client.close();
});

t.test('A client that hangs up during create_task leaves the task with its audit entry', async (t) => {
  const bodies = [
    { name: 'of 2025', meta: {}, more: {} },
    { name: 'of 2026', meta: { _meta: ENVELOPE }, more: envelopeHeaders('tools/call', 'create_task') },
  ];
  for (const { name, meta, more } of bodies) {
    const alice = await signUp(app);
    const { headers } = await createKey(app, alice);
    const body = {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { ...meta, name: 'create_task', arguments: NEW },
    };
    const hangUp = new AbortController();
    let answered: Promise<unknown> = Promise.resolve();
    await ctx.db.transaction(async (tx) => {
      await tx.select().from(users).where(eq(users.id, alice.id)).for('update');
      answered = fetch(url, {
        method: 'POST',
        headers: {
          ...headers,
          ...more,
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
        },
        body: JSON.stringify(body),
        signal: hangUp.signal,
      }).then((response) => response.text());
      await untilBlocked(tx);
      hangUp.abort();
      await t.rejects(answered, { name: 'AbortError' }, name);
    });
    await until(async () => (await ctx.db.$count(tasks, eq(tasks.userId, alice.id))) === 1);
    const [entry] = await ctx.db.select().from(auditLog).where(eq(auditLog.userId, alice.id)).orderBy(sql`id desc`);
    t.match(entry, { kind: 'task.created_by_assistant', details: { tool: 'create_task' } }, name);
  }
  t.same(
    logged.filter(({ level }) => Number(level) > 30),
    [],
  );
});

t.test('A call that has begun is answered during the shutdown', async (t) => {
  const bodies = [
    { meta: {}, more: {} },
    { meta: { _meta: ENVELOPE }, more: envelopeHeaders('tools/call', 'create_task') },
  ];
  for (const { meta, more } of bodies) {
    const stopping = await buildApp(ctx, { maxEventLoopDelayMs: Number.POSITIVE_INFINITY });
    await stopping.listen({ host: '127.0.0.1', port: 0 });
    const alice = await signUp(app);
    const { headers } = await createKey(app, alice);
    const params = { ...meta, name: 'create_task', arguments: NEW };
    const to = addressOf(stopping);
    let answered: ReturnType<typeof post> | undefined;
    let closed: Promise<unknown> | undefined;
    await ctx.db.transaction(async (tx) => {
      await tx.select().from(users).where(eq(users.id, alice.id)).for('update');
      answered = post(to, { ...headers, ...more }, { jsonrpc: '2.0', id: 1, method: 'tools/call', params });
      await untilBlocked(tx);
      closed = stopping.close();
      await until(() => !stopping.server.listening);
    });
    const answer = await answered;
    t.match(answer?.message.result, { structuredContent: { taskId: Number } });
    await closed;
  }
});

t.test('The span of a call names its tool and its outcome', async (t) => {
  const otlp = await startOtlpServer(t);
  const traced = await testContext(t, { env: { OTEL_EXPORTER_OTLP_ENDPOINT: otlp.url } });
  const { headers } = await createKey(traced.app, await signUp(traced.app));
  const to = new URL('/mcp', await traced.app.listen({ host: '127.0.0.1', port: 0 }));
  const params = { name: 'get_task', arguments: { taskId: 1 } };
  await post(to, headers, { jsonrpc: '2.0', id: 1, method: 'tools/call', params });
  await traced.app.close();
  await traced.ctx.trace.close();
  const { attributes } = otlp.span('POST /mcp');
  t.match(attributes, { 'carillon.tool': 'get_task', 'carillon.outcome': 'NOT_FOUND' });
});

t.test('During maintenance a client gets the message of the service', async (t) => {
  const { headers } = await createKey(app, await signUp(app));
  const setMode = (maintenanceMode: boolean) => ctx.db.update(settings).set({ maintenanceMode });
  t.teardown(() => setMode(false));
  for (const open of CLIENTS) {
    const client = await open(url, headers);
    await setMode(true);
    await t.rejects(client.callTool({ name: 'get_usage', arguments: {} }), /under maintenance/);
    await setMode(false);
    t.notOk((await client.callTool({ name: 'get_usage', arguments: {} })).isError);
    await client.close();
  }
});

t.test('A call is in the log with its key, tool and outcome, and without its arguments', async (t) => {
  const alice = await signUp(app);
  const { headers, id } = await createKey(app, alice);
  const client = await connect(url, headers);
  await client.callTool({ name: 'create_task', arguments: { ...NEW, prompt: 'Not for the log.' } });
  await client.callTool({ name: 'create_task', arguments: { prompt: 'Not for the log.' } });
  await client.close();
  const lines = logged.filter(({ keyId, tool }) => keyId === id && tool !== undefined);
  t.match(lines, [
    { route: '/mcp', status: 200, userId: alice.id, tool: 'create_task', outcome: 'ok' },
    { route: '/mcp', status: 200, userId: alice.id, tool: 'create_task', outcome: 'VALIDATION_ERROR' },
  ]);
  t.notMatch(JSON.stringify(logged), /Not for the log/);
});

t.test('A change is in the audit log with the key, its name, and the client as it calls itself', async (t) => {
  const alice = await signUp(app);
  const { headers, id } = await createKey(app, alice);
  const later = await connect(url, headers);
  await later.callTool({ name: 'create_task', arguments: NEW });
  await later.close();
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'create_task', arguments: NEW } };
  await post(url, { ...headers, 'user-agent': 'Assistant/1.0 (test)' }, body);
  const entries = await ctx.db
    .select()
    .from(auditLog)
    .where(like(auditLog.kind, 'task.created_by_assistant'))
    .orderBy(sql`id desc`)
    .limit(2);
  const key = { tool: 'create_task', keyId: id, keyName: 'A program' };
  t.match(entries, [
    { actorId: alice.id, userId: alice.id, details: { ...key, client: 'Assistant/1.0 (test)' } },
    { actorId: alice.id, userId: alice.id, details: { ...key, client: 'A test 1.2.3' } },
  ]);
});

t.test('The name of a client is one line of at most 100 visible characters', async (t) => {
  const name = (text: string) => findClientName({ name: text, version: '1' }, 'not this');
  t.equal(name('Claude\r\n\tCode'), 'Claude Code 1');
  t.equal(name('\u202egnp.exe\u2066 \u200b\0x\ud800'), 'gnp.exe x\ufffd 1');
  t.equal([...(name('𝒜'.repeat(300)) ?? '')].length, 100);
  t.equal(name(' '), '1');
  t.equal(findClientName(undefined, 'node'), 'node');
  t.equal(findClientName(undefined, undefined), null);
  t.equal(findClientName(undefined, '\u200f'), null);
});

t.test('Failures of the service say whether and when to try again, and a bug is logged', async (t) => {
  const { ctx, logged } = await testContext(t);
  const describe = (error: unknown) =>
    describeToolError(error, { name: 'run_task' }, { ctx: { ...ctx, requestId: 'the-one' } });
  const busy = describe(new AppError('unavailable', 'The service is starting.', undefined, 7));
  t.equal(busy.text, 'The service is starting.\nCall run_task again in 7 seconds.');
  t.match(busy.meta, { code: 'SERVICE_UNAVAILABLE', status: 503 });
  t.match(describe(preconditionFailed()), {
    code: 'PRECONDITION_FAILED',
    text: /Fetch it again/,
    meta: { status: 412 },
  });
  t.match(describe(new AppError('conflict', 'It has ended.')), { text: 'It has ended.', meta: { status: 409 } });
  const bug = describe(new Error('The words of a bug.'));
  t.match(bug, { code: 'INTERNAL_ERROR', text: /request id the-one/, meta: { status: 500 } });
  t.notMatch(JSON.stringify(bug), /words of a bug/);
  t.match(
    logged.filter(({ level }) => Number(level) > 30),
    [{ msg: 'a tool failed', tool: 'run_task', err: { message: 'The words of a bug.' } }],
  );
});
