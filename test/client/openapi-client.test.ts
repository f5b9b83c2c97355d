import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { copyFileSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { testDatabase } from '@carillon/db/test-database';
import t from 'tap';

const { PATH = '', NODE_COMPILE_CACHE } = process.env;
const HERE = fileURLToPath(new URL('./', import.meta.url));
const ROOT = join(HERE, '../..');
const { resolve } = createRequire(import.meta.url);

const folder = t.testdir();
const { url: DATABASE_URL } = await testDatabase(t);
const url = await startApi();
const served = await (await fetch(`${url}/api/docs/json`)).text();

t.test('A client generated from the served document compiles and works with the service', async (t) => {
  const project = await generate('client', served);
  t.match(await check(project), { code: 0, printed: '' }, 'its types are correct');
  t.match(await run(join(project, 'journey.ts'), [url]), { code: 0, printed: 'All calls worked.\n' });
});

t.test('A document that loses null, required or enum does not compile with its users', async (t) => {
  const document = JSON.parse(served);
  const { Task, TaskExecution } = document.components.schemas;
  Task.properties.nextExecutionAt.type = 'string';
  TaskExecution.required = TaskExecution.required.filter((name: string) => name !== 'result');
  delete document.components.schemas.User.properties.role.enum;
  document.paths['/api/auth/login'].post.requestBody.required = false;
  const { code, printed } = await check(await generate('altered', JSON.stringify(document)));
  t.not(code, 0);
  const lines = printed.split('\n').filter((line) => line.startsWith('types.ts'));
  t.equal(lines.filter((line) => line.includes("'true' is not assignable to type 'false'")).length, 4, printed);
});

/** Starts all of Carillon in a process and returns its URL. */
async function startApi(): Promise<string> {
  const settings = { DATABASE_URL, PORT: '0', DATA_DIR: join(folder, 'data'), AI_BASE_URL: 'offline' };
  const child = spawn(process.execPath, [join(HERE, '../../apps/start/src/main.ts')], {
    cwd: folder,
    env: { PATH, NODE_COMPILE_CACHE, ...settings, STORAGE_DRIVER: 'disk', LOG_LEVEL: 'silent' },
  });
  t.teardown(() => stop(child));
  let printed = '';
  child.stderr.on('data', (text) => {
    printed += text;
  });
  for await (const chunk of child.stdout) {
    printed += chunk;
    const [, address] = /Carillon runs at (\S+)\n/.exec(printed) ?? [];
    if (address === undefined) continue;
    child.stdout.resume();
    return new URL(address).origin;
  }
  throw new Error(`Carillon did not start: ${printed}`);
}

async function stop(child: ChildProcess): Promise<void> {
  const ended = new Promise((resolve) => child.once('exit', resolve));
  if (child.kill('SIGTERM')) await ended;
}

/** Creates a project with the types of a document and the files that use them. */
async function generate(name: string, document: string): Promise<string> {
  const project = join(folder, name);
  mkdirSync(project);
  writeFileSync(join(project, 'openapi.json'), document);
  for (const file of ['journey.ts', 'types.ts']) copyFileSync(join(HERE, 'openapi', file), join(project, file));
  writeFileSync(join(project, 'package.json'), '{"type":"module"}');
  symlinkSync(join(HERE, '../node_modules'), join(project, 'node_modules'));
  writeFileSync(
    join(project, 'tsconfig.json'),
    JSON.stringify({
      extends: join(ROOT, 'tsconfig.base.json'),
      compilerOptions: { lib: ['es2024', 'dom', 'dom.iterable'], typeRoots: [join(ROOT, 'node_modules/@types')] },
      include: ['*.ts'],
    }),
  );
  const { code, printed } = await run(
    join(resolve('openapi-typescript/package.json'), '../bin/cli.js'),
    ['openapi.json', '-o', 'api.ts'],
    project,
  );
  if (code !== 0) throw new Error(printed);
  return project;
}

/** Type-checks a project with the compiler version that the generator depends on. */
const check = (project: string) => run(resolve('typescript/bin/tsc'), ['--noEmit', '--pretty', 'false'], project);

function run(script: string, given: string[], cwd = folder): Promise<{ code: unknown; printed: string }> {
  return new Promise((resolve) => {
    // Without the Node options that tap sets.
    execFile(
      process.execPath,
      [script, ...given],
      { cwd, env: { PATH, NODE_COMPILE_CACHE }, maxBuffer: 16 * 1024 * 1024 },
      (error, stdout, stderr) => {
        resolve({ code: error ? error.code : 0, printed: `${stdout}${stderr}` });
      },
    );
  });
}
