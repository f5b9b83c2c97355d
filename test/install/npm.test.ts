import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { isAlive } from '@carillon/db/embedded/postmaster';
import t from 'tap';
import { packNpm } from '../../scripts/pack/npm.ts';
import { findFreePort } from '../system/ports.ts';
import { curl, MACHINE_PATH, run, runTask, signUp, start, succeed, waitUntilReady } from './commands.ts';

const folder = mkdtempSync(join(tmpdir(), 'carillon-install-'));
t.teardown(() => rmSync(folder, { recursive: true, force: true }));
// The account of PostgreSQL works below.
chmodSync(folder, 0o711);
const project = join(folder, 'project');
const installed = join(project, 'node_modules/carillon');
const manifest = () => JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));

/** A Node.js that is too old, as the launcher asks. */
const oldNode = join(folder, 'old');
mkdirSync(oldNode);
writeFileSync(join(oldNode, 'node'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });

const carillon = (...args: string[]) => [join(project, 'node_modules/.bin/carillon'), args] as const;

t.before(async () => {
  mkdirSync(project, { recursive: true });
  const archive = packNpm(folder);
  t.comment(`${Math.round(readFileSync(archive).length / 1024)} KiB packed`);
  const began = performance.now();
  // Newer versions of npm run no scripts of packages.
  const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'];
  await succeed('npm', ['install', ...quiet, archive], { cwd: project });
  t.comment(`installed in ${Math.round((performance.now() - began) / 1000)} s`);
});

t.test('The package bundles what the registry does not have, and everything else is a dependency', async (t) => {
  const { dependencies, bundleDependencies, optionalDependencies } = manifest();
  for (const name of bundleDependencies) {
    t.ok(dependencies[name], `${name} is a dependency too`);
    t.ok(existsSync(join(installed, 'node_modules', name, 'package.json')), name);
  }
  for (const name of ['@carillon/api', 'postgres', 'undici', 'drizzle-orm', 'swagger-ui-dist']) {
    t.ok(bundleDependencies.includes(name), name);
  }
  t.ok(optionalDependencies[`node-${process.platform}-${process.arch}`]);
  t.notOk(existsSync(join(project, 'node_modules/@scarf')), 'nothing that reports installations');
  const files = readdirSync(installed, { recursive: true, encoding: 'utf8' });
  t.same(
    files.filter((path) => /@carillon\/.*(\.ts|\/test\/.*)$/.test(path)),
    [],
    'neither types nor tests',
  );
});

t.test('Lines of the sources stay where they are', async (t) => {
  const path = 'src/start';
  const source = readFileSync(new URL(`../../apps/start/${path}.ts`, import.meta.url), 'utf8').split('\n');
  const packed = readFileSync(join(installed, `node_modules/@carillon/start/${path}.js`), 'utf8').split('\n');
  t.equal(packed.length, source.length);
  const line = source.findIndex((text) => text.includes('function startCarillon'));
  t.match(packed[line], 'function startCarillon');
});

t.test('The Node.js of the caller runs it, or that of the package if it is too old', async (t) => {
  const [program, args] = carillon('--version');
  const own = `${dirname(process.execPath)}${delimiter}${MACHINE_PATH}`;
  for (const PATH of [own, `${oldNode}${delimiter}${MACHINE_PATH}`]) {
    t.match(await succeed(program, args, { cwd: project, env: { PATH } }), /^\d+\.\d+\.\d+\n$/);
  }
  const without = join(project, 'node_modules', `node-${process.platform}-${process.arch}`);
  rmSync(join(without, 'bin'), { recursive: true });
  t.match(await run(program, args, { cwd: project, env: { PATH: `${oldNode}${delimiter}${MACHINE_PATH}` } }), {
    code: 1,
    output: 'Carillon needs Node.js 24 or newer: install it',
  });
});

t.test('An installation starts, runs a task, is checked, and stops with everything that it started', async (t) => {
  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}`;
  const env = { PORT: String(port), PATH: `${dirname(process.execPath)}${delimiter}${MACHINE_PATH}` };
  const options = { cwd: project, env };
  t.match(await run(...carillon('doctor'), options), { code: 0, output: '0 problems' }, 'before the first start');
  const began = performance.now();
  const service = start('npx', ['carillon', 'start', '--data', './data'], options);
  t.teardown(() => service.process.kill());
  await waitUntilReady(url, service);
  t.comment(`ready in ${Math.round((performance.now() - began) / 1000)} s`);
  for (const page of ['/sign-in', '/api/docs']) {
    const html = await (await fetch(`${url}${page}`)).text();
    const assets = [...html.matchAll(/(?:href|src)="([^"#]+\.(?:css|js|png|svg)[^"]*)"/g)];
    t.ok(assets.length > 1, page);
    for (const [, path = ''] of assets) t.equal((await fetch(new URL(path, `${url}${page}`))).status, 200, path);
  }
  const token = await signUp(url);
  t.type(await runTask(url, token, 'Morning sentence'), 'string');
  t.match(await run(...carillon('doctor', '--data', './data'), options), { code: 0, output: '0 problems' });
  t.match(await succeed(...carillon('upgrade', '--check', '--data=./data'), options), 'the next start changes nothing');
  await succeed(...carillon('backup', 'first.tar.zst', '--data', './data'), options);
  t.match(await run(...carillon('create-admin', 'ada@example.com', '--data', './data'), options), { code: 0 });

  const postgres = Number(readFileSync(join(project, 'data/postgres/data/postmaster.pid'), 'utf8').split('\n')[0]);
  const ended = new Promise((resolve) => service.process.once('close', resolve));
  service.process.kill('SIGTERM');
  await ended;
  t.notOk(isAlive(postgres), 'PostgreSQL is stopped');
  await t.rejects(curl(`${url}/api/health`, null), 'nothing listens');
  t.notOk(existsSync(join(project, '.data')), 'data is where --data says');
});

t.test('The demo passes', async (t) => {
  const env = {
    PORT: String(await findFreePort()),
    PATH: `${dirname(process.execPath)}${delimiter}${MACHINE_PATH}`,
  };
  t.match(await run('npx', ['carillon', 'demo'], { cwd: project, env }), { code: 0, output: 'Every step worked' });
});
