import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { loadConfig } from '@carillon/api/lib/config/config';
import { testDatabase } from '@carillon/db/test-database';
import t, { type Test } from 'tap';
import { startCarillon } from '../../apps/start/src/start.ts';
import { parseBlocks, readPage } from './pages.ts';

const PAGE = 'docs/consumers/webhooks.md';
const LANGUAGES = {
  js: { file: 'receiver.mjs', program: process.execPath, arguments: (file: string) => [file] },
  python: { file: 'receiver.py', program: 'python3', arguments: (file: string) => [file] },
  php: {
    file: 'receiver.php',
    program: 'php',
    arguments: (file: string, port: number) => ['-S', `127.0.0.1:${port}`, file],
  },
};
const json = { 'Content-Type': 'application/json' };

let url: string;
let headers: Record<string, string>;
t.before(async () => {
  const { url: DATABASE_URL } = await testDatabase(t);
  const settings = { PORT: '0', DATA_DIR: t.testdir(), AI_BASE_URL: 'offline', LOG_LEVEL: 'silent' };
  const carillon = await startCarillon(loadConfig({ DATABASE_URL, ...settings }), 1000);
  t.teardown(carillon.close);
  url = carillon.url;
  const account = { email: 'ada@example.com', password: 'Carillon-2026' };
  await post('/api/auth/register', { name: 'Ada', ...account }, json);
  const { token } = await post('/api/auth/login', account, { ...json, 'X-Request-Token': 'true' });
  headers = { ...json, Authorization: `Bearer ${token}` };
});

interface Answer {
  token: string;
  webhook: { id: string; secret: string };
}

async function post(path: string, body: object, head = headers) {
  const answer = await fetch(`${url}${path}`, { method: 'POST', headers: head, body: JSON.stringify(body) });
  return (await answer.json()) as Answer;
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as { port: number };
  probe.close();
  await once(probe, 'close');
  return port;
}

async function startReceiver(t: Test, language: keyof typeof LANGUAGES, port: number, secret: string) {
  const { file, program, arguments: args } = LANGUAGES[language];
  const source = parseBlocks(readPage(PAGE)).find((block) => block.language === language);
  const path = join(t.testdir(), file);
  writeFileSync(path, source?.text ?? '');
  const env = { PATH: process.env.PATH, PORT: String(port), WEBHOOK_SECRET: secret };
  const receiver = spawn(program, args(path, port), { env, stdio: ['ignore', 'pipe', 'pipe'] });
  t.teardown(() => stop(receiver));
  let output = '';
  for (const stream of [receiver.stdout, receiver.stderr])
    stream.setEncoding('utf8').on('data', (text) => (output += text));
  for (;;) {
    const isUp = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST' }).then(
      () => true,
      () => false,
    );
    if (isUp) return { getOutput: () => output };
    if (receiver.exitCode !== null) throw new Error(output);
    await pause(50);
  }
}

async function stop(receiver: ChildProcess) {
  if (receiver.exitCode !== null) return;
  receiver.kill();
  await once(receiver, 'exit');
}

for (const language of Object.keys(LANGUAGES) as (keyof typeof LANGUAGES)[]) {
  const { program } = LANGUAGES[language];
  const skip = spawnSync(program, ['--version']).status === 0 ? false : `there is no ${program}`;
  t.test(`the receiver in ${language} accepts genuine deliveries only`, { skip }, async (t) => {
    const port = await freePort();
    const address = `http://127.0.0.1:${port}/carillon`;
    const { webhook } = await post('/api/webhooks', { url: address, events: ['test'] });
    const { getOutput } = await startReceiver(t, language, port, webhook.secret);
    t.match(await post(`/api/webhooks/${webhook.id}/test`, {}), { success: true, delivery: { statusCode: 204 } });
    const deliver = async (given: { secret?: string; age?: number; body?: string; signature?: string }) => {
      const { secret = webhook.secret, age = 0, body = '{"event":"test"}' } = given;
      const sentAt = String(Math.floor(Date.now() / 1000) - age);
      const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
      const signature = `v1,${createHmac('sha256', key).update(`id.${sentAt}.${body}`).digest('base64')}`;
      const signed = {
        'webhook-id': 'id',
        'webhook-timestamp': sentAt,
        'webhook-signature': given.signature ?? signature,
      };
      return (await fetch(address, { method: 'POST', headers: { ...json, ...signed }, body })).status;
    };
    t.equal(await deliver({}), 204);
    const other = `v1,${Buffer.alloc(32).toString('base64')}`;
    t.equal(await deliver({ secret: `whsec_${'A'.repeat(32)}` }), 401, 'another secret');
    t.equal(await deliver({ age: 301 }), 401, 'an old delivery');
    t.equal(await deliver({ signature: other }), 401, 'another signature');
    t.equal(await deliver({ signature: 'v1,' }), 401, 'an empty signature');
    t.equal(await deliver({ signature: 'nonsense' }), 401);
    t.equal((await fetch(address, { method: 'POST', body: '{}' })).status, 401, 'no signature at all');
    const rotated = await post(`/api/webhooks/${webhook.id}/rotate-secret`, {});
    t.not(rotated.webhook.secret, webhook.secret);
    t.match(await post(`/api/webhooks/${webhook.id}/test`, {}), { success: true }, 'the previous secret still works');
    const countPrinted = () => getOutput().match(/ test$/gm)?.length ?? 0;
    for (let tries = 0; countPrinted() < 3 && tries < 100; tries++) await pause(50);
    t.equal(countPrinted(), 3, 'genuine deliveries are printed');
  });
}
