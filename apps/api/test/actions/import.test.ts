import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import t from 'tap';

const NODE_COMPILE_CACHE = t.testdir();

interface Imported {
  megabytes: number;
  files: string[];
}

/** The files that a new process loads for these imports, and the memory that it then takes once they are compiled. */
async function importAll(names: readonly string[]): Promise<Imported> {
  await importInProcess(names);
  return await importInProcess(names);
}

async function importInProcess(names: readonly string[]): Promise<Imported> {
  const program = `
    import { registerHooks } from 'node:module';
    const files = [];
    registerHooks({ load: (url, context, next) => (files.push(url), next(url, context)) });
    await Promise.all(${JSON.stringify(names)}.map((name) => import(name)));
    console.log(JSON.stringify({ megabytes: process.memoryUsage.rss() / 1e6, files }));
  `;
  const { NODE_OPTIONS: _, ...env } = process.env;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program], {
    cwd: new URL('../..', import.meta.url),
    env: { ...env, NODE_COMPILE_CACHE },
    maxBuffer: 10_000_000,
  });
  return JSON.parse(stdout);
}

const OTHER =
  /\/node_modules\/(fastify|undici|nodemailer|flydrive|openid-client|@aws-sdk|@opentelemetry|@prometheus-io)\//;

t.test(
  'Server actions are imported within 160 MB, without the HTTP server and clients of other services',
  async (t) => {
    const { megabytes, files } = await importAll(['@carillon/api/actions']);
    t.ok(files.some((url) => url.endsWith('/actions/build.ts')));
    t.same(
      files.filter((url) => OTHER.test(url)),
      [],
    );
    t.ok(megabytes < 160, `${megabytes} MB`);
  },
);

t.test('Server actions, configuration and context are imported within 200 MB', async (t) => {
  const names = ['@carillon/api/actions', '@carillon/api/config', '@carillon/api/open-context'];
  const { megabytes } = await importAll(names);
  t.ok(megabytes < 200, `${megabytes} MB`);
});
