import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfig } from '@carillon/api/config/config';
import { testDatabase } from '@carillon/db/test-database';
import t from 'tap';
import { startCarillon } from '../src/start.ts';
import { redocly, spectral } from './support/linters.ts';

const folder = t.testdir();
const { url: DATABASE_URL } = await testDatabase(t);
const { url, close } = await startCarillon(
  loadConfig({
    DATABASE_URL,
    PORT: '0',
    DATA_DIR: join(folder, 'data'),
    // An installation that people reach: of one at localhost the linters say that nobody can use it.
    BASE_URL: 'https://carillon.test',
    AI_BASE_URL: 'offline',
    LOG_LEVEL: 'silent',
    STORAGE_DRIVER: 'disk',
  }),
  60_000,
);
t.teardown(close);

const served = await (await fetch(`${url}/api/docs/json`)).text();

function fileOf(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

const good = fileOf('served.json', served);
const faulty = fileOf('faulty.json', plantFaults());

for (const [name, lint] of Object.entries({ redocly, spectral })) {
  t.test(`${name} finds nothing in the document that the API serves`, async (t) => {
    const { code, printed } = await lint(good);
    t.equal(code, 0, printed);
    t.notMatch(printed, /"severity":\s*"warn"|[1-9]\d* warnings?/);
  });

  t.test(`${name} would find an operation without a name, and an example that its schema does not take`, async (t) => {
    const { code, printed } = await lint(faulty);
    t.equal(code, 1);
    t.match(printed, /operationId/);
    t.match(printed, /no-invalid-media-type-examples|oas3-valid-media-example/);
  });
}

/** One operation of the document, without its name and with a wrong example. */
function plantFaults(): string {
  const { paths, webhooks: _, ...document } = JSON.parse(served);
  const { operationId: __, ...get } = paths['/api/tasks/{id}'].get;
  get.responses[200].content['application/json'].example = { success: true, task: { id: 'seven' } };
  return JSON.stringify({ ...document, paths: { '/api/tasks/{id}': { get } } });
}
