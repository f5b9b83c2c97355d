import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfig } from '@carillon/api/lib/config/config';
import { testDatabase } from '@carillon/db/test-database';
import t from 'tap';
import { startCarillon } from '../src/start.ts';
import { lint } from './support/linter.ts';

const folder = t.testdir();
const { url: DATABASE_URL } = await testDatabase(t);
const { url, close } = await startCarillon(
  loadConfig({
    DATABASE_URL,
    PORT: '0',
    DATA_DIR: join(folder, 'data'),
    // The linter warns about a server at localhost.
    BASE_URL: 'https://carillon.test',
    AI_BASE_URL: 'offline',
    LOG_LEVEL: 'silent',
    STORAGE_DRIVER: 'disk',
  }),
  60_000,
);
t.teardown(close);

const served = await (await fetch(`${url}/api/docs/json`)).text();

function writeDocument(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

const good = writeDocument('served.json', served);
const faulty = writeDocument('faulty.json', withProblems());

t.test('The linter finds no problem in the served document', async (t) => {
  const { code, printed } = await lint(good);
  t.equal(code, 0, printed);
  t.notMatch(printed, /"severity":\s*"warn"|[1-9]\d* warnings?/);
});

t.test('The linter finds what is no OpenAPI, a missing operationId and an invalid example', async (t) => {
  const { code, printed } = await lint(faulty);
  t.equal(code, 1);
  for (const rule of ['struct', 'operation-operationId', 'no-invalid-media-type-examples'])
    t.match(printed, `"ruleId": "${rule}"`);
});

/** One operation of the document, without its operationId, with an invalid example and a response that is none. */
function withProblems(): string {
  const { paths, webhooks: _, ...document } = JSON.parse(served);
  const { operationId: __, ...get } = paths['/api/tasks/{id}'].get;
  get.responses[404] = 7;
  get.responses[200].content['application/json'].example = { success: true, task: { id: 'seven' } };
  return JSON.stringify({ ...document, paths: { '/api/tasks/{id}': { get } } });
}
