import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename, delimiter, join } from 'node:path';
import { loadConfig } from '@carillon/api/config/config';
import { testDatabase } from '@carillon/db/test-database';
import t, { type Test } from 'tap';
import { openBrowser, openPage, SKIP_WITHOUT_BROWSER } from '../../../api/test/support/browser.ts';
import { startCarillon } from '../../src/start.ts';
import { COMPILERS, createFolder, createProject, packClient, run } from './package.ts';

const folder = createFolder(t);
const project = join(folder, 'project');
const origin = await servePages(t);
const baseUrl = await startService(t);

t.before(async () => {
  mkdirSync(project);
  await createProject(project, await packClient(folder));
  copyFileSync(join(import.meta.dirname, 'journey.ts'), join(project, 'journey.ts'));
  const options = ['--strict', '--target', 'es2023', '--module', 'nodenext', '--lib', 'es2023,dom,dom.iterable'];
  await run(COMPILERS[0] as string, [...options, 'journey.ts'], { cwd: project });
  writeFileSync(
    join(project, 'main.js'),
    `import { runJourney } from './journey.js';
const { argv, env } = process;
await runJourney(env.BASE_URL, env.ACCOUNT);
console.log('All calls worked.');
`,
  );
});

for (const { name, program, given } of findRuntimes()) {
  t.test(`The client works in ${name}`, async (t) => {
    const account = name.replaceAll(/\W+/g, '-').toLowerCase();
    const printed = await run(program, [...given, 'main.js'], {
      cwd: project,
      env: { BASE_URL: baseUrl, ACCOUNT: account },
    });
    t.equal(printed, 'All calls worked.\n');
  });
}

t.test('The client works in Chromium, at another origin than the API', { skip: SKIP_WITHOUT_BROWSER }, async (t) => {
  const { page } = await openPage(await openBrowser(t));
  await page.goto(`${origin}/index.html`);
  const outcome = await page.evaluate(
    async ([url, path]) => {
      const { runJourney } = await import(path as string);
      return runJourney(url, 'chromium').then(
        () => 'All calls worked.',
        (error: Error) => `${error.stack}`,
      );
    },
    [baseUrl, '/journey.js'],
  );
  t.equal(outcome, 'All calls worked.');
});

interface Runtime {
  name: string;
  program: string;
  given: string[];
}

/** The Node.js of the tests, other versions on the path, and what `CLIENT_RUNTIMES` lists: paths of node, deno or bun. */
function findRuntimes(): Runtime[] {
  const { PATH = '', CLIENT_RUNTIMES = '' } = process.env;
  const onPath = PATH.split(delimiter).map((folder) => join(folder, 'node'));
  const listed = CLIENT_RUNTIMES.split(delimiter).filter(Boolean);
  const runtimes = [process.execPath, ...onPath.filter((file) => existsSync(file)), ...listed].map((program) => {
    const [version = ''] = execFileSync(program, ['--version'], { encoding: 'utf8' }).split('\n');
    const [, kind = 'node'] = /^(deno|bun)/.exec(basename(program)) ?? [];
    const major = /\d+/.exec(version)?.[0];
    return { name: `${kind} ${major}`, program, given: kind === 'deno' ? ['run', '--allow-net', '--allow-env'] : [] };
  });
  return [...new Map(runtimes.map((runtime) => [runtime.name, runtime])).values()];
}

/** Serves the project, with a page that knows where the package is. */
async function servePages(t: Test): Promise<string> {
  const imports = { '@carillon/client': '/node_modules/@carillon/client/dist/index.js' };
  const page = `<!doctype html><script type="importmap">${JSON.stringify({ imports })}</script>`;
  const server = createServer(({ url = '' }, response) => {
    if (url === '/index.html') return response.setHeader('content-type', 'text/html').end(page);
    if (!url.endsWith('.js')) return response.writeHead(404).end();
    return response.setHeader('content-type', 'text/javascript').end(readFileSync(join(project, url)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function startService(t: Test): Promise<string> {
  const { url: DATABASE_URL } = await testDatabase(t);
  const config = loadConfig({
    DATABASE_URL,
    PORT: '0',
    DATA_DIR: folder,
    AI_BASE_URL: 'offline',
    LOG_LEVEL: 'silent',
    CORS_ORIGINS: origin,
    RATE_LIMIT_MULTIPLIER: '100',
  });
  const { url, close } = await startCarillon(config, 1000);
  t.teardown(close);
  return url;
}
