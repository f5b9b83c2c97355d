import { randomUUID } from 'node:crypto';
import { apiKeys, oauthTokens } from '@carillon/db';
import { testDatabase } from '@carillon/db/test-database';
import { eq, sql } from 'drizzle-orm';
import t from 'tap';
import { buildRequest, CLAUDE, type Program, type Tokens } from '../../apps/api/test/support/oauth-client.ts';
import { startApiProcess } from './api-process.ts';
import { JWT_SECRET, signInAll } from './clients.ts';
import { insertPeople } from './due-tasks.ts';

const BASE_URL = 'http://localhost:3000';
const CURSOR = {
  id: 'https://cursor.com/oauth/mcp-client.json',
  redirect: 'cursor://anysphere.cursor-mcp/oauth/callback',
};
const TIMES = 8;

const { db, url: databaseUrl } = await testDatabase(t);
const env = { JWT_SECRET, BASE_URL, COOKIE_SECURE: 'false', RATE_LIMIT_MULTIPLIER: '10000' };
const settings = { databaseUrl, aiUrl: 'http://127.0.0.1:9', env };
const processes = await Promise.all([startApiProcess(t, settings), startApiProcess(t, settings)]);
const pick = (at: number) => processes[at % processes.length]?.url ?? '';

async function signUp() {
  const [id = 0] = await insertPeople(db, 1);
  const [token = ''] = await signInAll(db, [id]);
  return { id, token };
}

/** Allows a program on its page, as a browser without scripts does. */
async function allow(token: string, program: Program) {
  const { search, verifier } = buildRequest(program);
  const address = `${pick(0)}/oauth/authorize?${search}`;
  const headers = {
    cookie: `local-session=${token}`,
    accept: 'text/html',
    'sec-fetch-site': 'same-origin',
    origin: BASE_URL,
  };
  const shown = await fetch(address, { headers });
  const [, csrf = ''] = /name="_csrf" value="([^"]+)"/.exec(await shown.text()) ?? [];
  const form = new URLSearchParams({ answer: 'allow', preset: 'everything', _csrf: csrf });
  const cookies = shown.headers.getSetCookie().map((line) => line.split(';', 1)[0]);
  const answer = await fetch(address, {
    method: 'POST',
    headers: { ...headers, cookie: [headers.cookie, ...cookies].join('; ') },
    body: form,
  });
  const [, to = ''] = (answer.headers.get('refresh') ?? '').split('url=');
  return { code: new URL(to).searchParams.get('code') ?? '', verifier };
}

async function postForm(at: number, fields: Record<string, string>) {
  const answer = await fetch(`${pick(at)}/oauth/token`, { method: 'POST', body: new URLSearchParams(fields) });
  return { status: answer.status, body: (await answer.json()) as Tokens & { error?: string } };
}

const exchange = (at: number, { id, redirect }: Program, { code, verifier }: { code: string; verifier: string }) =>
  postForm(at, {
    ...{ grant_type: 'authorization_code', client_id: id, redirect_uri: redirect },
    ...{ code, code_verifier: verifier },
  });

const refresh = (at: number, { id }: Program, token: string) =>
  postForm(at, { grant_type: 'refresh_token', client_id: id, refresh_token: token });

async function ask(at: number, token: string): Promise<number> {
  const { status } = await fetch(`${pick(at)}/mcp`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
  });
  return status;
}

const together = <R>(count: number, act: (at: number) => Promise<R>) =>
  Promise.all(Array.from({ length: count }, (_, at) => act(at)));

const countConnections = (userId: number) => db.$count(apiKeys, eq(apiKeys.userId, userId));

t.test('Of many exchanges of a code at once at most one succeeds, and its tokens are ended', async (t) => {
  for (let times = 0; times < TIMES; times++) {
    const { id, token } = await signUp();
    const allowed = await allow(token, CLAUDE);
    const answers = await together(6, (at) => exchange(at, CLAUDE, allowed));
    const given = answers.filter(({ status }) => status === 200);
    t.equal(given.length, 1);
    t.ok(answers.every(({ status, body }) => status === 200 || body.error === 'invalid_grant'));
    for (const { body } of given) {
      t.same(await together(2, (at) => ask(at, body.access_token)), [401, 401]);
      t.equal((await refresh(0, CLAUDE, body.refresh_token)).status, 400);
    }
    t.equal(await countConnections(id), 0);
  }
});

t.test('Many refreshes of one token at once each get a pair', async (t) => {
  const { id, token } = await signUp();
  const { body: tokens } = await exchange(0, CLAUDE, await allow(token, CLAUDE));
  const pairs = await together(10, (at) => refresh(at, CLAUDE, tokens.refresh_token));
  t.same(
    pairs.map(({ status }) => status),
    Array(10).fill(200),
  );
  t.equal(new Set(pairs.map(({ body }) => body.refresh_token)).size, 10);
  for (const [at, { body }] of pairs.entries()) t.equal(await ask(at + 1, body.access_token), 200);
  t.equal(await countConnections(id), 1);
});

t.test('A token that was replaced long ago ends the connection, whatever is asked at the same time', async (t) => {
  for (let times = 0; times < TIMES; times++) {
    const { id, token } = await signUp();
    const { body: tokens } = await exchange(0, CLAUDE, await allow(token, CLAUDE));
    const { body: next } = await refresh(0, CLAUDE, tokens.refresh_token);
    await db.update(oauthTokens).set({ consumedAt: sql`${oauthTokens.consumedAt} - interval '61 s'` });
    const answers = await together(6, (at) =>
      refresh(at, CLAUDE, at % 3 === 0 ? tokens.refresh_token : next.refresh_token),
    );
    t.ok(answers.every(({ status }) => status === 200 || status === 400));
    const issued = [tokens, next, ...answers.filter(({ status }) => status === 200).map(({ body }) => body)];
    for (const { access_token: access } of issued) t.equal(await ask(times, access), 401);
    t.equal(await countConnections(id), 0);
  }
});

t.test('Nothing outlives a disconnection that races with refreshes', async (t) => {
  for (let times = 0; times < TIMES; times++) {
    const { id, token } = await signUp();
    const { body: tokens } = await exchange(0, CLAUDE, await allow(token, CLAUDE));
    const headers = { authorization: `Bearer ${token}` };
    const { apps } = (await (await fetch(`${pick(0)}/api/user/apps`, { headers })).json()) as {
      apps: { id: string }[];
    };
    const [answers, ended] = await Promise.all([
      together(4, (at) => refresh(at, CLAUDE, tokens.refresh_token)),
      fetch(`${pick(1)}/api/user/apps/${apps[0]?.id}`, { method: 'DELETE', headers }),
    ]);
    t.equal(ended.status, 200);
    t.ok(answers.every(({ status }) => status === 200 || status === 400));
    for (const { status, body } of answers) if (status === 200) t.equal(await ask(times, body.access_token), 401);
    t.equal(await countConnections(id), 0);
    t.equal(await db.$count(oauthTokens, eq(oauthTokens.userId, id)), 0);
  }
});

t.test('Codes of one program that are exchanged at once make one connection', async (t) => {
  const { id, token } = await signUp();
  const codes = [await allow(token, CLAUDE), await allow(token, CLAUDE), await allow(token, CLAUDE)];
  const answers = await Promise.all(codes.map((code, at) => exchange(at, CLAUDE, code)));
  t.ok(answers.every(({ status }) => status === 200));
  const statuses = await Promise.all(answers.map(({ body }, at) => ask(at, body.access_token)));
  t.same(statuses.sort(), [200, 401, 401]);
  t.equal(await countConnections(id), 1);
});

t.test('The limit of 50 connections is exact', async (t) => {
  const { id, token } = await signUp();
  const pending = [
    { program: CLAUDE, code: await allow(token, CLAUDE) },
    { program: CURSOR, code: await allow(token, CURSOR) },
  ];
  await db.insert(apiKeys).values(
    Array.from({ length: 49 }, (_, at) => ({
      ...{ id: randomUUID(), userId: id, name: 'A', prefix: '', scopes: ['tasks:read'], createdAt: new Date() },
      ...{ clientId: `https://example.com/${at}`, clientHost: 'example.com' },
    })),
  );
  const answers = await Promise.all(pending.map(({ program, code }, at) => exchange(at, program, code)));
  t.same(answers.map(({ status }) => status).sort(), [200, 402]);
  t.equal(await countConnections(id), 50);
});
