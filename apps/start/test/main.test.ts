import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { isAlive } from '@carillon/db/embedded/postmaster';
import { testDatabase } from '@carillon/db/test-database';
import t, { type Test } from 'tap';
import { folder, serverPid, until } from '../../../packages/db/test/servers.ts';

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));
const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

function start(t: Test, dataDir: string, env: Record<string, string> = {}, cwd = t.testdir()) {
  const { PATH = '', NODE_COMPILE_CACHE } = process.env;
  const child = spawn(process.execPath, [MAIN], {
    cwd,
    env: { PATH, NODE_COMPILE_CACHE, DATA_DIR: dataDir, PORT: '0', ...env },
  });
  t.teardown(() => child.kill('SIGKILL'));
  return { child, stderr: text(child.stderr), exit: once(child, 'exit') };
}

const readUrl = async (child: ChildProcess) => new URL(await readAddress(child)).origin;

/** Waits for the address that the start prints. */
async function readAddress(child: ChildProcess): Promise<string> {
  let printed = '';
  for await (const chunk of child.stdout ?? []) {
    printed += chunk;
    const [, url] = /Carillon runs at (\S+)\n/.exec(printed) ?? [];
    if (url) {
      child.stdout?.resume();
      return url;
    }
  }
  throw new Error(`it did not start: ${printed}`);
}

/** Its database is created once, which takes longest. */
const used = folder(t);

t.test('One command starts everything, and Ctrl-C stops everything', async (t) => {
  const dataDir = used;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    const { child, exit, stderr } = start(t, dataDir);
    const url = await readAddress(child);
    t.match(url, /^http:\/\/127\.0\.0\.1:\d+\/setup\?token=[\w-]{27}$/, 'a page that creates the first account');
    const { origin } = new URL(url);
    t.match(await (await fetch(url)).text(), '<h1>Welcome to Carillon</h1>');
    t.equal((await fetch(`${origin}/api/health`)).status, 200);
    t.equal((await fetch(`${origin}/api/docs`)).status, 200);
    child.kill(signal);
    child.kill(signal);
    t.strictSame(await exit, [0, null], 'also if npx and pnpm both pass it on');
    t.equal(await stderr, '');
    t.equal(serverPid(dataDir), undefined, 'PostgreSQL is stopped too');
  }
});

t.test('A signal to npx alone, or its death, stops everything, and a first start logs no error', async (t) => {
  const dataDir = folder(t);
  for (const signal of ['SIGINT', 'SIGKILL'] as const) {
    const { PATH = '', HOME = '', NODE_EXTRA_CA_CERTS = '' } = process.env;
    const npx = spawn('npx', ['-y', 'pnpm@12', 'start'], {
      cwd: ROOT,
      env: { PATH, HOME, NODE_EXTRA_CA_CERTS, npm_config_prefer_offline: 'true', DATA_DIR: dataDir, PORT: '0' },
    });
    let printed = '';
    npx.stdout.on('data', (chunk) => {
      printed += chunk;
    });
    await until(() => printed.includes('The scheduler triggers'), 60_000);
    t.notMatch(printed, /"err"|"level":[456]0|is in use/);
    const node = Number(/"pid":(\d+)/.exec(printed)?.[1]);
    t.teardown(() => isAlive(node) && process.kill(node, 'SIGKILL'));
    const postgres = serverPid(dataDir) as number;
    npx.kill(signal);
    await until(() => !isAlive(node) && !isAlive(postgres));
    t.match(printed, '"msg":"stopped"', signal);
  }
});

t.test('If the process is killed, PostgreSQL stops', async (t) => {
  const dataDir = used;
  const { child } = start(t, dataDir);
  await readAddress(child);
  const postgres = serverPid(dataDir) as number;
  child.kill('SIGKILL');
  await until(() => !isAlive(postgres));
  t.equal(serverPid(dataDir), undefined, 'cleanly');
});

t.test('A second Ctrl-C ends the process at once, and the next start works', async (t) => {
  const dataDir = used;
  const first = start(t, dataDir);
  const { hostname, port } = new URL(await readUrl(first.child));
  // A request without its body keeps the process from stopping quickly.
  const socket = connect(Number(port), hostname);
  t.teardown(() => socket.destroy());
  socket.on('error', () => {});
  socket.write(
    'POST /api/auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{',
  );
  await once(socket, 'ready');
  first.child.kill('SIGINT');
  const again = setInterval(() => first.child.kill('SIGINT'), 20);
  const [code] = await first.exit;
  clearInterval(again);
  t.equal(code, 130);
  const second = start(t, dataDir);
  t.equal((await fetch(`${await readUrl(second.child)}/api/health`)).status, 200);
  second.child.kill('SIGINT');
  t.strictSame(await second.exit, [0, null]);
});

const findProgram = (name: string) => (process.env.PATH ?? '').split(':').some((path) => existsSync(join(path, name)));
const SKIP_WITHOUT_TERMINAL = findProgram('script') && findProgram('ps') ? false : 'needs script and ps';

/** Starts it in a terminal window, which closes when `script` is killed. */
function startInTerminal(t: Test, dataDir: string, env: Record<string, string> = {}) {
  const { PATH = '', NODE_COMPILE_CACHE } = process.env;
  const window = spawn('script', ['-qfec', `exec ${process.execPath} ${MAIN}`, '/dev/null'], {
    cwd: tmpdir(),
    env: { PATH, NODE_COMPILE_CACHE, DATA_DIR: dataDir, PORT: '0', ...env },
  });
  t.teardown(() => window.kill('SIGKILL'));
  const shown = { text: '' };
  window.stdout.on('data', (chunk) => {
    shown.text += chunk;
  });
  return { window, shown };
}

t.test(
  'A terminal shows the banner and no requests, and o opens the page',
  { skip: SKIP_WITHOUT_TERMINAL },
  async (t) => {
    const bin = t.testdir({});
    const opened = join(bin, 'opened');
    writeFileSync(join(bin, 'xdg-open'), `#!/bin/sh\necho "$1" > ${opened}\n`, { mode: 0o755 });
    writeFileSync(join(bin, 'open'), `#!/bin/sh\necho "$1" > ${opened}\n`, { mode: 0o755 });
    const { window, shown } = startInTerminal(t, used, { PATH: `${bin}:${process.env.PATH}` });
    await until(() => shown.text.includes('o + Enter opens it'), 60_000);
    const [, address = ''] = /Carillon runs at (\S+)/.exec(shown.text) ?? [];
    t.match(shown.text, /\r\nProvider: offline \(set AI_BASE_URL\)\r\nMail: files in \S+ \(set SMTP_URL\)\r\n/);
    t.equal((await fetch(`${new URL(address).origin}/api/health`)).status, 200);
    window.stdin.write('o\n');
    await until(() => existsSync(opened) && readFileSync(opened, 'utf8').endsWith('\n'));
    t.equal(readFileSync(opened, 'utf8'), `${address}\n`);
    t.notMatch(shown.text, /INFO|started|request/);
    const postgres = serverPid(used) as number;
    window.stdin.write('\x03');
    await until(() => !isAlive(postgres));
    t.match(shown.text, 'Stopping.');
  },
);

t.test('Closing the window of the terminal stops everything', { skip: SKIP_WITHOUT_TERMINAL }, async (t) => {
  const { window, shown } = startInTerminal(t, used);
  await until(() => shown.text.includes('o + Enter opens it'), 60_000);
  const postgres = serverPid(used) as number;
  window.kill('SIGKILL');
  await until(() => !isAlive(postgres));
  t.equal(serverPid(used), undefined, 'cleanly');
});

t.test('A window that closes may send SIGHUP more than once: PostgreSQL still is stopped', async (t) => {
  const { child, exit } = start(t, used);
  const { hostname, port } = new URL(await readUrl(child));
  const postgres = serverPid(used) as number;
  // A request without its body keeps the process from stopping quickly.
  const socket = connect(Number(port), hostname);
  t.teardown(() => socket.destroy());
  socket.on('error', () => {});
  socket.write(
    'POST /api/auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{',
  );
  await once(socket, 'ready');
  const again = setInterval(() => child.kill('SIGHUP'), 200);
  t.strictSame(await exit, [0, null]);
  clearInterval(again);
  t.notOk(isAlive(postgres));
});

t.test('Misspelt settings are named at start, those of .env as well', async (t) => {
  const { url: DATABASE_URL } = await testDatabase(t);
  const cwd = t.testdir({ '.env': 'SMTP_URI=smtp://mail.example.com\nEDITOR=vi\n' });
  const { child } = start(t, folder(t), { DATABASE_URL, AI_BASEURL: 'https://openrouter.ai/api/v1' }, cwd);
  let printed = '';
  child.stdout?.on('data', (chunk) => {
    printed += chunk;
  });
  await until(() => printed.includes('Carillon runs at'));
  for (const [name, nearest] of [
    ['AI_BASEURL', 'AI_BASE_URL'],
    ['SMTP_URI', 'SMTP_URL'],
  ]) {
    t.match(printed, `${name} is not a setting of Carillon and is ignored. The nearest is ${nearest}.`);
  }
  t.match(printed, 'EDITOR is not a setting of Carillon and is ignored."');
  t.notMatch(printed, /PATH is not a setting|openrouter/);
});

t.test('A taken port is reported in one line, before a database is created', async (t) => {
  const dataDir = folder(t);
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  t.teardown(() => other.close());
  const { port } = other.address() as AddressInfo;
  const { exit, stderr } = start(t, dataDir, { PORT: String(port) });
  t.equal(await stderr, `Port ${port} is taken: stop the other program or set PORT.\n`);
  t.strictSame(await exit, [1, null]);
  t.notOk(existsSync(join(dataDir, 'postgres')));
});

t.test('An invalid setting is reported in one line', async (t) => {
  const dataDir = folder(t);
  const lines: [Record<string, string>, RegExp][] = [
    [{ PORT: 'x' }, /^PORT is "x", but takes .*\n$/],
    [{ HOST: '203.0.113.1', PORT: '3999' }, /^HOST is "203\.0\.113\.1", which this machine cannot listen at .*\n$/],
    [{ DATA_DIR: '/dev/null/data' }, /^\/dev\/null\/data\/secrets.json cannot be read\.\n$/],
  ];
  for (const [env, line] of lines) {
    const { exit, stderr } = start(t, dataDir, env);
    t.match(await stderr, line);
    t.strictSame(await exit, [1, null]);
  }
});
