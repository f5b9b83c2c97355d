import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { isAlive } from '@carillon/db/embedded/postmaster';
import { startEmbeddedPostgres } from '@carillon/db/embedded/server';
import t from 'tap';
import { ask, folder, holder, killed, launchHolder, preparedFolder, serverPid, start, until } from './servers.ts';

t.test('a second start keeps what the first has written, at the same address', async (t) => {
  const dataDir = folder(t);
  const first = await start(t, dataDir);
  await ask(first.url, `create table kept as select 'ÄÖ' as word`);
  await first.stop();
  await first.stop();
  t.equal(serverPid(dataDir), undefined, 'stop leaves no server');
  const second = await start(t, dataDir);
  t.equal(second.url, first.url);
  t.strictSame(await ask(second.url, 'select lower(word) as word from kept'), [{ word: 'äö' }]);
  t.equal(statSync(join(dataDir, 'postgres/password')).mode & 0o777, 0o600);
});

t.test('money is safe: committed is on disk unless a test says otherwise', async (t) => {
  const server = await startEmbeddedPostgres({ dataDir: await preparedFolder(t) });
  t.teardown(server.stop);
  const settings = `current_setting('fsync') as fsync, current_setting('synchronous_commit') as commit`;
  t.strictSame(await ask(server.url, `select ${settings}`), [{ fsync: 'on', commit: 'on' }]);
});

t.test('nobody gets in without the password', async (t) => {
  const { url } = await start(t, await preparedFolder(t));
  const guess = new URL(url);
  guess.password = 'guess';
  await t.rejects(ask(guess.href, 'select 1'), { code: '28P01' });
});

t.test('a folder whose name is long and full of spaces and quotes will do', async (t) => {
  const { url } = await start(t, await preparedFolder(t, `it's "my" $HOME & \`data\` ${'long '.repeat(30)}`));
  t.strictSame(await ask(url, 'select 1 as one'), [{ one: 1 }]);
});

t.test('two that start together on an empty folder share one server, which goes with the last', async (t) => {
  const dataDir = folder(t);
  const [one, two] = await Promise.all([start(t, dataDir), holder(t, dataDir)]);
  t.equal(two.url, one.url);
  const three = await start(t, dataDir);
  await one.stop();
  t.strictSame(await ask(two.url, 'select 1 as one'), [{ one: 1 }], 'it goes on for the others');
  await killed(two.child);
  await three.stop();
  t.equal(serverPid(dataDir), undefined);
});

t.test('a server outlives its killed owner, is taken over, and stopped in the end', async (t) => {
  const dataDir = await preparedFolder(t);
  const { url, child } = await holder(t, dataDir);
  const pid = serverPid(dataDir) as number;
  await killed(child);
  t.ok(isAlive(pid), 'what ends the owner with its whole process group spares the server');
  const heir = await start(t, dataDir);
  t.equal(heir.url, url);
  t.equal(serverPid(dataDir), pid);
  await heir.stop();
  await until(() => !isAlive(pid));
});

t.test('a killed server is started again with everything committed', async (t) => {
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

t.test('a server that dies under a living owner comes back at the same address', async (t) => {
  const dataDir = await preparedFolder(t);
  const { url, stop } = await start(t, dataDir);
  process.kill(serverPid(dataDir) as number, 'SIGKILL');
  const answers = () => ask(url, 'select 1').then(Boolean, () => false);
  await until(async () => !(await answers()));
  await until(answers);
  await stop();
  t.equal(serverPid(dataDir), undefined);
});

t.test('a pid file is no obstacle when its pid now belongs to another program', async (t) => {
  const dataDir = await preparedFolder(t);
  const { child } = await holder(t, dataDir);
  const pid = serverPid(dataDir) as number;
  await killed(child);
  process.kill(pid, 'SIGKILL');
  await until(() => !isAlive(pid));
  const { uid, gid } = statSync(join(dataDir, 'postgres'));
  // PostgreSQL itself believes a file that names a living process of its own user.
  const stranger = spawn('sleep', ['60'], process.getuid?.() === 0 ? { uid, gid, cwd: '/' } : {});
  t.teardown(() => stranger.kill());
  const file = join(dataDir, 'postgres/data/postmaster.pid');
  writeFileSync(file, readFileSync(file, 'utf8').replace(/^\d+/, String(stranger.pid)));
  const { url } = await start(t, dataDir);
  t.strictSame(await ask(url, 'select 1 as one'), [{ one: 1 }]);
  t.ok(isAlive(stranger.pid as number));
});

t.test('another port is chosen when the last one is taken', async (t) => {
  const dataDir = await preparedFolder(t);
  const first = await start(t, dataDir);
  await first.stop();
  const squatter = createServer().listen(Number(new URL(first.url).port), '127.0.0.1');
  t.teardown(() => squatter.close());
  const second = await start(t, dataDir);
  t.not(second.url, first.url);
  t.strictSame(await ask(second.url, 'select 1 as one'), [{ one: 1 }]);
});

t.test('a first start that is killed half-way leaves nothing half-made', async (t) => {
  const dataDir = folder(t);
  const names = () => (existsSync(dataDir) ? readdirSync(dataDir) : []);
  const child = launchHolder(t, dataDir);
  await until(() => names().some((name) => existsSync(join(dataDir, name, 'data/base'))));
  await killed(child);
  t.notOk(names().includes('postgres'), 'the cluster has no name before it is whole');
  const { url } = await start(t, dataDir);
  t.strictSame(await ask(url, 'select 1 as one'), [{ one: 1 }]);
  t.notOk(
    names().some((name) => name.startsWith('postgres.new')),
    'and the draft is swept away',
  );
});

t.test('a server that cannot start says why in one line', async (t) => {
  const dataDir = await preparedFolder(t);
  const { stop } = await start(t, dataDir);
  await stop();
  writeFileSync(join(dataDir, 'postgres/data/postgresql.conf'), 'no_such_setting = 1\n');
  await t.rejects(startEmbeddedPostgres({ dataDir }), {
    message: /^The embedded PostgreSQL does not start: .*postgresql\.conf" contains errors .*$/,
  });
});
