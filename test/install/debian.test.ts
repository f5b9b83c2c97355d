import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { testDatabase } from '@carillon/db/test-database';
import t, { type Test } from 'tap';
import { writeRelease } from '../../scripts/pack/release.ts';
import { repository } from '../../scripts/pack/workspace.ts';
import { findFreePort } from '../system/ports.ts';
import { curl, run, runTask, signIn, signUp, start, succeed, waitUntilReady } from './commands.ts';
import { createRoot, type DebianRoot } from './debian-root.ts';

const TIMEOUT_MS = 900_000;
t.setTimeout(TIMEOUT_MS);

const PROGRAMS = { 'dpkg-deb': 'dpkg', lintian: 'lintian', 'systemd-analyze': 'systemd' };
const missing: string[] = [];
for (const [program, from] of Object.entries(PROGRAMS)) {
  if ((await run('sh', ['-c', `command -v ${program}`])).code !== 0) missing.push(from);
}
if (missing.length > 0 && process.env.REQUIRE_PROGRAMS)
  throw new Error(`REQUIRE_PROGRAMS is set, but there is no ${missing.join(', ')}.`);
const skip = missing.length > 0 && `needs ${missing.join(', ')} (apt-get install)`;

const folder = mkdtempSync(join(tmpdir(), 'carillon-deb-test-'));
t.teardown(() => rmSync(folder, { recursive: true, force: true }));
const extracted = join(folder, 'first');
const UNITS = 'usr/lib/systemd/system';
const NEXT = '99.0.0';
const NEXT_MIGRATION = '9999_next';
let first = '';

t.test('A release has both packages, their parts, notes and checksums', { skip, timeout: TIMEOUT_MS }, async (t) => {
  const [archive = '', deb = '', sbom = '', notes = '', sums = ''] = writeRelease(folder);
  first = deb;
  t.comment(`${Math.round(statSync(deb).size / 1024 / 1024)} MiB packed`);
  const { version } = repository;
  t.equal(basename(archive), `carillon-${version}.tgz`);
  t.match(basename(deb), /^carillon_.*_(amd64|arm64)\.deb$/);
  t.match(readFileSync(notes, 'utf8'), `# Carillon ${version}\n`);
  t.match(await succeed('sha256sum', ['--check', sums], { cwd: folder }), /^(\S+: OK\n){4}$/);
  const { bomFormat, metadata, components } = JSON.parse(readFileSync(sbom, 'utf8'));
  t.match(
    { bomFormat, component: metadata.component },
    { bomFormat: 'CycloneDX', component: { name: 'carillon', version } },
  );
  const names = components.map(({ name }: { name: string }) => name);
  for (const name of ['@carillon/api', 'fastify', 'undici', 'postgres']) t.ok(names.includes(name), name);
});

t.test('The package has no error of lintian', { skip, timeout: TIMEOUT_MS }, async (t) => {
  await succeed('dpkg-deb', ['-R', first, extracted]);
  const { output } = await run('lintian', ['--tag-display-limit', '0', first]);
  t.match(output, 'W: carillon', 'it ran');
  t.same(
    output.split('\n').filter((line) => line.startsWith('E:')),
    [],
  );
});

t.test('Each unit is exposed by 3.0 at most', { skip }, async (t) => {
  const units = readdirSync(join(extracted, UNITS)).filter((name) => name.endsWith('.service'));
  t.same(units, [
    'carillon-api.service',
    'carillon-api@.service',
    'carillon-backup.service',
    'carillon-scheduler.service',
  ]);
  for (const unit of units) {
    const output = await succeed('systemd-analyze', [
      'security',
      '--offline=true',
      '--no-pager',
      join(extracted, UNITS, unit),
    ]);
    const [, level] = /exposure level for \S+: ([\d.]+)/.exec(output) ?? [];
    t.ok(Number(level) <= 3, `${unit}: ${level}`);
  }
});

t.test('The scripts pass shellcheck', async (t) => {
  const scripts = [
    'debian/carillon',
    'debian/backup',
    'debian/create-database',
    'npm/carillon',
    'proxmox/create-lxc.sh',
  ];
  scripts.push(...['config', 'preinst', 'postinst', 'prerm', 'postrm'].map((name) => `debian/${name}`));
  const paths = scripts.map((name) => join(import.meta.dirname, '../../deploy', name));
  t.match(await run('shellcheck', paths), { code: 0, output: '' });
});

const root = skip ? null : await createRoot(t);

t.test(
  'Extracted, both processes run against PostgreSQL',
  { skip: skip || (root !== null && 'a Debian is made instead') },
  async (t) => {
    const { url: DATABASE_URL } = await testDatabase(t);
    const port = await findFreePort();
    const url = `http://127.0.0.1:${port}`;
    const home = join(extracted, 'usr/lib/carillon');
    const entry = join(home, 'node_modules/carillon/node_modules/@carillon/start/src/carillon.js');
    const settings = `--env-file=${join(extracted, 'etc/carillon/carillon.env')}`;
    const secrets = { JWT_SECRET: '', ENCRYPTION_KEY: '', CRON_SECRET: '', ADMIN_KEY: '' };
    for (const name of Object.keys(secrets)) {
      Object.assign(secrets, { [name]: Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64') });
    }
    const env = { ...secrets, DATABASE_URL, PORT: String(port), DATA_DIR: join(folder, 'data') };
    const [api, scheduler] = ['api', 'scheduler'].map((name) =>
      start(join(home, 'bin/node'), [settings, entry, name], { env }),
    );
    t.teardown(() => [api, scheduler].map((service) => service?.process.kill()));
    await waitUntilReady(url, api!);
    t.type(await runTask(url, await signUp(url), 'First'), 'string');
  },
);

t.test(
  'In a Debian, the package is installed, upgraded, removed and purged',
  { skip: skip || (root === null && 'needs root, debootstrap, mounts and a mirror'), timeout: TIMEOUT_MS },
  async (t) => {
    if (root === null) return;
    const second = await packNext();
    const port = await findFreePort();
    const services = openServices(t, root, port);

    await t.test('The installation makes user, secrets and database, and prints the setup link', async (t) => {
      const output = await install(root, first);
      t.match(
        output,
        /Create the first account of Carillon within an hour: http:\/\/localhost:3000\/setup\?token=\S{27}\n/,
      );
      const { uid, gid } = statSync(root.path('var/lib/carillon'));
      t.not(uid, 0);
      for (const name of ['carillon.env', 'secrets.env']) {
        const file = statSync(root.path(`etc/carillon/${name}`));
        t.match({ mode: file.mode & 0o777, uid: file.uid, gid: file.gid }, { mode: 0o640, uid: 0, gid });
      }
      t.match(readFileSync(root.path('etc/carillon/secrets.env'), 'utf8'), /^(\w+=[\w+/]{43}=\n){4}$/);
      t.match(await query(root, `select rolname from pg_roles where rolname = 'carillon'`), {
        code: 0,
        output: 'carillon',
      });
      const enabled = readdirSync(root.path('etc/systemd/system'), { recursive: true, encoding: 'utf8' });
      for (const unit of ['carillon-api.service', 'carillon-scheduler.service', 'carillon-backup.timer']) {
        t.ok(
          enabled.some((path) => basename(path) === unit),
          unit,
        );
      }
    });

    await t.test('The commands of both units run a task', async (t) => {
      t.match(await backUp(root), { code: 0, output: 'there is nothing to back up' });
      await services.start();
      const token = await signUp(services.url);
      t.type(await runTask(services.url, token, 'First'), 'string');
      t.match(await root.run('carillon', ['doctor']), { output: 'PostgreSQL 15' });
      t.match(await root.run('runuser', ['-u', 'nobody', '--', 'carillon', 'doctor']), {
        code: 1,
        output: 'sudo carillon doctor',
      });
      t.match(await root.run('carillon', ['setup-link']), { code: 1, output: 'There is an account already' });
    });

    await t.test('An upgrade makes a backup first, and keeps data, secrets and settings', async (t) => {
      writeFileSync(root.path('etc/carillon/carillon.env'), '\nLOG_LEVEL=warn\n', { flag: 'a' });
      const before = readSettings(root);
      t.same(listBackups(root), []);
      const output = await install(root, second);
      t.equal(listBackups(root).length, 1);
      t.notMatch(output, 'Create the first account');
      t.same(readSettings(root), before);
      t.match(await root.run('carillon', ['upgrade', '--check', '--json']), {
        code: 0,
        output: new RegExp(`"migrations":\\["${NEXT_MIGRATION}"\\].*"ready":true`),
      });
      await services.stop();
      await services.start();
      t.match(await curl(`${services.url}/api/health`, null), { version: NEXT });
      const { tasks } = (await curl(`${services.url}/api/tasks`, await signIn(services.url))) as {
        tasks: { name: string }[];
      };
      t.match(tasks, [{ name: 'First' }]);
      t.match(await root.run('carillon', ['upgrade', '--check']), {
        code: 0,
        output: 'the next start changes nothing',
      });
    });

    await t.test('The daily backup deletes those that are older than two weeks', async (t) => {
      const old = root.path('var/backups/carillon/carillon-2020-01-01-030000.tar.zst');
      writeFileSync(old, '');
      await succeed('touch', ['--date=15 days ago', old]);
      t.match(await backUp(root), { code: 0 });
      t.notOk(existsSync(old));
      t.equal(listBackups(root).length, 2);
    });

    await t.test('Without a backup, nothing is upgraded unless the operator says so', async (t) => {
      await services.stop();
      await root.postgres('stop');
      const refused = await root.run('dpkg', ['-i', place(root, second)]);
      t.match(refused, {
        code: 1,
        output: /no backup could be made; the installed version keeps running.*CARILLON_WITHOUT_BACKUP=1/s,
      });
      t.match(await root.run('dpkg-query', ['-W', '-f', '$' + '{db:Status-Status}', 'carillon']), {
        output: 'installed',
      });
      await install(root, second, { CARILLON_WITHOUT_BACKUP: '1' });
      await root.postgres('start');
    });

    await t.test('Removing and purging leave the data, unless the operator wants it deleted', async (t) => {
      const secrets = readFileSync(root.path('etc/carillon/secrets.env'), 'utf8');
      t.match(await root.run('dpkg', ['-r', 'carillon']), { code: 0 });
      t.notOk(existsSync(root.path('usr/lib/carillon')));
      t.ok(existsSync(root.path('etc/carillon/carillon.env')));
      t.match(await root.run('dpkg', ['-P', 'carillon'], NONINTERACTIVE), {
        code: 0,
        output: 'The data of Carillon stays',
      });
      t.notOk(existsSync(root.path('etc/carillon/carillon.env')));
      t.equal(readFileSync(root.path('etc/carillon/secrets.env'), 'utf8'), secrets);
      t.match(await query(root, 'select 1'), { output: '1' });

      await install(root, second);
      t.equal(
        readFileSync(root.path('etc/carillon/secrets.env'), 'utf8'),
        secrets,
        'a new installation goes on with it',
      );
      t.match(await root.run('carillon', ['upgrade', '--check']), { output: 'the next start changes nothing' });
      const answer = 'carillon carillon/purge-data boolean true';
      await root.run('sh', ['-c', `echo ${answer} | debconf-set-selections`]);
      t.match(await root.run('dpkg', ['-P', 'carillon'], NONINTERACTIVE), { code: 0 });
      for (const path of ['etc/carillon', 'var/lib/carillon', 'var/backups/carillon'])
        t.notOk(existsSync(root.path(path)), path);
      t.match(await query(root, `select count(*) from pg_database where datname = 'carillon'`, 'postgres'), {
        output: '0',
      });
      t.notMatch(readFileSync(root.path('etc/passwd'), 'utf8'), /^carillon:/m);
    });
  },
);

const NONINTERACTIVE = { DEBIAN_FRONTEND: 'noninteractive' };

/** A later version: the first one with another number and one more migration. */
async function packNext(): Promise<string> {
  const next = join(folder, 'next');
  await succeed('cp', ['-a', extracted, next]);
  const own = join(next, 'usr/lib/carillon/node_modules/carillon/node_modules/@carillon');
  const edit = (path: string, change: (text: string) => string) =>
    writeFileSync(path, change(readFileSync(path, 'utf8')));
  edit(join(next, 'DEBIAN/control'), (text) => text.replace(/^Version: .*$/m, `Version: ${NEXT}`));
  edit(join(own, 'api/package.json'), (text) => text.replace(/"version": "[^"]+"/, `"version": "${NEXT}"`));
  writeFileSync(join(own, `db/migrations/${NEXT_MIGRATION}.sql`), 'create view next_version as select 1 as one;');
  edit(join(own, 'db/migrations/meta/_journal.json'), (text) => {
    const journal = JSON.parse(text);
    const { idx, version, when, breakpoints } = journal.entries.at(-1);
    journal.entries.push({ idx: idx + 1, version, when: when + 1, tag: NEXT_MIGRATION, breakpoints });
    return JSON.stringify(journal);
  });
  const path = join(folder, 'next.deb');
  await succeed('dpkg-deb', ['--root-owner-group', '-Zgzip', '-z1', '--build', next, path]);
  return path;
}

/** The path of a package in the root. */
function place(root: DebianRoot, path: string): string {
  writeFileSync(root.path('tmp/carillon.deb'), readFileSync(path));
  return '/tmp/carillon.deb';
}

async function install(root: DebianRoot, path: string, env: Record<string, string> = {}): Promise<string> {
  const { code, output } = await root.run('dpkg', ['-i', place(root, path)], { ...NONINTERACTIVE, ...env });
  if (code !== 0) throw new Error(`The package is not installed:\n${output}`);
  return output;
}

const backUp = (root: DebianRoot) => root.run('runuser', ['-u', 'carillon', '--', '/usr/lib/carillon/backup']);

const listBackups = (root: DebianRoot) => readdirSync(root.path('var/backups/carillon'));

const readSettings = (root: DebianRoot) =>
  ['carillon.env', 'secrets.env'].map((name) => readFileSync(root.path(`etc/carillon/${name}`), 'utf8'));

const query = (root: DebianRoot, text: string, database = 'carillon') =>
  root.run('runuser', ['-u', 'postgres', '--', 'psql', '-XqAt', '-c', text, database]);

/** The processes of the units, at a free port. */
function openServices(t: Test, root: DebianRoot, port: number) {
  const running: ReturnType<typeof start>[] = [];
  const url = `http://127.0.0.1:${port}`;
  const read = (name: string) => readFileSync(root.path(`${UNITS}/${name}.service`), 'utf8');
  const stop = async () => {
    for (const { process: child } of running.splice(0).reverse()) {
      const ended = new Promise((resolve) => child.once('close', resolve));
      if (child.exitCode === null && child.kill('SIGTERM')) await ended;
    }
  };
  t.teardown(stop);
  return {
    url,
    stop,
    start: async () => {
      const env = { PORT: String(port) };
      const api = root.startUnit(read('carillon-api'), env);
      running.push(api);
      await waitUntilReady(url, api);
      running.push(root.startUnit(read('carillon-scheduler'), env));
    },
  };
}
