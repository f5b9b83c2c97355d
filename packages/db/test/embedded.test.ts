import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { isAlive } from '@carillon/db/embedded/postmaster';
import { startEmbeddedPostgres } from '@carillon/db/embedded/server';
import t from 'tap';
import { ask, folder, holder, killed, launchHolder, preparedFolder, serverPid, start, until } from './servers.ts';

t.test('A second start has the data of the first, at the same URL', async (t) => {
  const dataDir = folder(t);
  const first = await start(t, dataDir);
  await ask(first.url, `create table kept as select 'ÄÖ' as word`);
  await first.stop();
  await first.stop();
  t.equal(serverPid(dataDir), undefined, 'stop ends the server');
  const second = await start(t, dataDir);
  t.equal(second.url, first.url);
  t.strictSame(await ask(second.url, 'select lower(word) as word from kept'), [{ word: 'äö' }]);
  t.equal(statSync(join(dataDir, 'postgres/password')).mode & 0o777, 0o600);
});

t.test('Committed data is on disk by default', async (t) => {
  const server = await startEmbeddedPostgres({ dataDir: await preparedFolder(t) });
  t.teardown(server.stop);
  const settings = `current_setting('fsync') as fsync, current_setting('synchronous_commit') as commit`;
  t.strictSame(await ask(server.url, `select ${settings}`), [{ fsync: 'on', commit: 'on' }]);
});

t.test('A connection without the password is refused', async (t) => {
  const { url } = await start(t, await preparedFolder(t));
  const guess = new URL(url);
  guess.password = 'guess';
  await t.rejects(ask(guess.href, 'select 1'), { code: '28P01' });
});

t.test('A data folder may have a long name with spaces and quotes', async (t) => {
  const { url } = await start(t, await preparedFolder(t, `it's "my" $HOME & \`data\` ${'long '.repeat(30)}`));
  t.strictSame(await ask(url, 'select 1 as one'), [{ one: 1 }]);
});

t.test(
  'Processes that start together on an empty folder share one server, which stops with the last of them',
  async (t) => {
    const dataDir = folder(t);
    const [one, two] = await Promise.all([start(t, dataDir), holder(t, dataDir)]);
    t.equal(two.url, one.url);
    const three = await start(t, dataDir);
    await one.stop();
    t.strictSame(await ask(two.url, 'select 1 as one'), [{ one: 1 }], 'it keeps running for the others');
    await killed(two.child);
    await three.stop();
    t.equal(serverPid(dataDir), undefined);
  },
);

t.test('A server survives its killed process, is joined by the next, and stopped by that', async (t) => {
  const dataDir = await preparedFolder(t);
  const { url, child } = await holder(t, dataDir);
  const pid = serverPid(dataDir) as number;
  await killed(child);
  t.ok(isAlive(pid), 'the signal to the process group does not reach the server');
  const next = await start(t, dataDir);
  t.equal(next.url, url);
  t.equal(serverPid(dataDir), pid);
  await next.stop();
  await until(() => !isAlive(pid));
});

t.test('A killed server is started again with everything committed', async (t) => {
  const dataDir = await preparedFolder(t);
  const { url, child } = await holder(t, dataDir);
  await ask(url, 'create table kept as select 1 as one');
  const pid = serverPid(dataDir) as number;
  await killed(child);
  process.kill(pid, 'SIGKILL');
  const next = await start(t, dataDir);
  t.not(serverPid(dataDir), pid);
  t.strictSame(await ask(next.url, 'select * from kept'), [{ one: 1 }]);
});

t.test('A server that dies during use is started again at the same URL', async (t) => {
  const dataDir = await preparedFolder(t);
  const { url, stop } = await start(t, dataDir);
  process.kill(serverPid(dataDir) as number, 'SIGKILL');
  const answers = () => ask(url, 'select 1').then(Boolean, () => false);
  await until(async () => !(await answers()));
  await until(answers);
  await stop();
  t.equal(serverPid(dataDir), undefined);
});

t.test('A stale pid file is ignored when its pid belongs to another program', async (t) => {
  const dataDir = await preparedFolder(t);
  const { child } = await holder(t, dataDir);
  const pid = serverPid(dataDir) as number;
  await killed(child);
  process.kill(pid, 'SIGKILL');
  await until(() => !isAlive(pid));
  const { uid, gid } = statSync(join(dataDir, 'postgres'));
  // PostgreSQL trusts a file that names a living process of its own user.
  const stranger = spawn('sleep', ['60'], process.getuid?.() === 0 ? { uid, gid, cwd: '/' } : {});
  t.teardown(() => stranger.kill());
  const file = join(dataDir, 'postgres/data/postmaster.pid');
  writeFileSync(file, readFileSync(file, 'utf8').replace(/^\d+/, String(stranger.pid)));
  const { url } = await start(t, dataDir);
  t.strictSame(await ask(url, 'select 1 as one'), [{ one: 1 }]);
  t.ok(isAlive(stranger.pid as number));
});

t.test('A pid file that a power cut left empty or garbled does not prevent a start', async (t) => {
  const dataDir = await preparedFolder(t);
  const file = join(dataDir, 'postgres/data/postmaster.pid');
  for (const content of ['', '\0'.repeat(90), 'not a number\n']) {
    const { child } = await holder(t, dataDir);
    const pid = serverPid(dataDir) as number;
    await killed(child);
    process.kill(pid, 'SIGKILL');
    await until(() => !isAlive(pid));
    writeFileSync(file, content);
    const { url, stop } = await start(t, dataDir);
    t.strictSame(await ask(url, 'select 1 as one'), [{ one: 1 }], JSON.stringify(content.slice(0, 12)));
    t.ok(isAlive(serverPid(dataDir) as number));
    await stop();
    t.notOk(existsSync(`${file}.broken`));
  }
});

t.test('A pid file that is emptied while its server runs stays where it is', async (t) => {
  const dataDir = await preparedFolder(t);
  const { url } = await holder(t, dataDir);
  const file = join(dataDir, 'postgres/data/postmaster.pid');
  const content = readFileSync(file);
  writeFileSync(file, '');
  await t.rejects(startEmbeddedPostgres({ dataDir, durable: false }), {
    message: /lock file "postmaster.pid" is empty/,
  });
  t.equal(readFileSync(file, 'utf8'), '');
  t.strictSame(await ask(url, 'select 1 as one'), [{ one: 1 }], 'the server continues');
  writeFileSync(file, content);
});

t.test('Another port is chosen when the last one is taken', async (t) => {
  const dataDir = await preparedFolder(t);
  const first = await start(t, dataDir);
  await first.stop();
  const squatter = createServer().listen(Number(new URL(first.url).port), '127.0.0.1');
  t.teardown(() => squatter.close());
  const second = await start(t, dataDir);
  t.not(second.url, first.url);
  t.strictSame(await ask(second.url, 'select 1 as one'), [{ one: 1 }]);
});

t.test('A first start that is killed leaves no incomplete cluster', async (t) => {
  const dataDir = folder(t);
  const names = () => (existsSync(dataDir) ? readdirSync(dataDir) : []);
  const child = launchHolder(t, dataDir);
  await until(() => names().some((name) => existsSync(join(dataDir, name, 'data/base'))));
  await killed(child);
  t.notOk(names().includes('postgres'), 'the cluster has its name only when complete');
  const { url } = await start(t, dataDir);
  t.strictSame(await ask(url, 'select 1 as one'), [{ one: 1 }]);
  t.notOk(
    names().some((name) => name.startsWith('postgres.new')),
    'and the draft is deleted',
  );
});

t.test('A server that cannot start is reported in one line', async (t) => {
  const dataDir = await preparedFolder(t);
  const { stop } = await start(t, dataDir);
  await stop();
  writeFileSync(join(dataDir, 'postgres/data/postgresql.conf'), 'no_such_setting = 1\n');
  await t.rejects(startEmbeddedPostgres({ dataDir }), {
    message: /^The embedded PostgreSQL does not start: .*postgresql\.conf" contains errors .*$/,
  });
});
