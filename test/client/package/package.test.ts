import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { Carillon, verifyWebhook } from '@carillon/client/source';
import t from 'tap';
import { openBrowser, openPage, SKIP_WITHOUT_BROWSER } from '../../../apps/api/test/support/browser.ts';
import { parseBlocks, readPage } from '../../docs/pages.ts';
import { compile, createFolder, createProject, installNodeTypes, packClient, run } from './project.ts';
import { findRuntimes } from './runtimes.ts';
import { servePages, signIn, startService } from './service.ts';

const MAX_BYTES = 15 * 1024;
const STRICT = ['--strict', '--skipLibCheck', 'false', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess'];
const PAGES = ['packages/client/README.md', 'docs/consumers/client.md'];

const folder = createFolder(t);
const project = join(folder, 'project');
const installed = join(project, 'node_modules/@carillon/client');
const origin = await servePages(t, project);
const baseUrl = await startService(t, { folder, origin });

t.before(async () => {
  mkdirSync(project);
  await createProject(project, await packClient(folder));
});

t.test('The package has the built files, their sources and no dependencies', async (t) => {
  t.same(readdirSync(installed).toSorted(), ['README.md', 'dist', 'package.json', 'src']);
  t.same(
    readdirSync(join(project, 'node_modules')).filter((name) => !name.startsWith('.')),
    ['@carillon'],
  );
  const built = readdirSync(join(installed, 'dist'), { recursive: true, encoding: 'utf8' });
  const modules = built.filter((name) => name.endsWith('.js'));
  t.ok(modules.length > 10);
  const bytes = gzipSync(modules.map((name) => readFileSync(join(installed, 'dist', name), 'utf8')).join('')).length;
  t.ok(bytes <= MAX_BYTES, `${bytes} bytes gzipped`);
  t.comment(`${bytes} bytes gzipped`);
});

t.test('The package type-checks strictly in an empty project, with both ways to resolve modules', async (t) => {
  cpSync(join(import.meta.dirname, 'journey.ts'), join(project, 'journey.ts'));
  const nodenext = ['--target', 'es2023', '--module', 'nodenext', '--lib', 'es2023,dom'];
  const bundler = ['--target', 'es2023', '--module', 'esnext', '--moduleResolution', 'bundler', '--noEmit'];
  t.equal(await compile('oldest', [...STRICT, ...nodenext, 'journey.ts'], project), '');
  t.equal(await compile('newest', [...STRICT, ...bundler, 'journey.ts'], project), '');
});

for (const { name, program, given } of findRuntimes()) {
  t.test(`The client works in ${name}`, async (t) => {
    writeFileSync(
      join(project, 'main.js'),
      `import { runJourney } from './journey.js';
await runJourney(process.env.BASE_URL, process.env.ACCOUNT);
console.log('All calls worked.');
`,
    );
    const env = { BASE_URL: baseUrl, ACCOUNT: name.replace(' ', '-') };
    t.equal(await run(program, [...given, 'main.js'], { cwd: project, env }), 'All calls worked.\n');
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

for (const path of PAGES) {
  t.test(`The program of ${path} type-checks, and prints what the page shows`, async (t) => {
    const blocks = parseBlocks(readPage(path));
    const program = blocks.filter(({ language }) => language === 'ts').map(({ text }) => text);
    const cwd = join(folder, path.replaceAll('/', '-'));
    cpSync(project, cwd, { recursive: true });
    installNodeTypes(cwd);
    writeFileSync(join(cwd, 'program.ts'), program.join('\n'));
    const options = [...STRICT, '--target', 'es2022', '--module', 'nodenext', '--types', 'node'];
    t.equal(await compile('newest', [...options, 'program.ts'], cwd), '');
    const account = path.replaceAll(/\W/g, '-');
    const env = { CARILLON_URL: baseUrl, CARILLON_API_KEY: await signIn(baseUrl, account) };
    const output = blocks.findLast(({ language }) => language === 'text')?.text;
    t.equal(await run(process.execPath, ['program.js'], { cwd, env }), output);
  });
}

t.test('verifyWebhook accepts the deliveries of the service, during a rotation too, and nothing altered', async (t) => {
  const received: { headers: Record<string, string | string[] | undefined>; body: string }[] = [];
  const server = createServer(async (request, response) => {
    received.push({ headers: request.headers, body: await text(request) });
    response.writeHead(204).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const carillon = new Carillon({ baseUrl, apiKey: await signIn(baseUrl, 'receiver') });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const { webhook } = await carillon.webhooks.create({ url, events: ['test'] });
  await carillon.webhooks.test(webhook.id);
  const { webhook: rotated } = await carillon.webhooks.rotateSecret(webhook.id);
  await carillon.webhooks.test(webhook.id);
  t.equal(received.length, 2);
  for (const [{ headers, body } = { headers: {}, body: '' }, secret] of [
    [received[0], webhook.secret],
    [received[1], webhook.secret],
    [received[1], rotated.secret],
  ] as const) {
    const event = await verifyWebhook(headers, body, secret);
    t.match(event, { event: 'test', webhookId: webhook.id });
    await t.rejects(verifyWebhook(headers, body.replace('test', 'tost'), secret));
    await t.rejects(verifyWebhook(headers, body, 'whsec_b3RoZXI='));
    const { 'x-webhook-signature': signature } = headers;
    if (secret === webhook.secret || event === null) continue;
    t.equal(
      (await verifyWebhook({ 'X-Webhook-Signature': signature }, body, secret)).event,
      'test',
      'by the body alone',
    );
  }
});
