import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testDatabase } from '@carillon/db/test-database';
import t, { type Test } from 'tap';
import { startAiServer } from '../../apps/api/test/support/servers/ai-server.ts';
import { startOtlpServer } from '../../apps/api/test/support/servers/otlp-server.ts';
import { startApiProcess } from './api-process.ts';

const HOOK = new URL('../../apps/api/test/support/loaded-modules.ts', import.meta.url).href;

const ai = await startAiServer();
const database = await testDatabase();
t.teardown(async () => {
  await ai.close();
  await database.close();
});
const folder = mkdtempSync(join(tmpdir(), 'carillon-modules-'));
t.teardown(() => rmSync(folder, { recursive: true, force: true }));

/** Starts a process, calls it once, stops it, and returns the modules it loaded. */
async function loadedModules(t: Test, name: string, env: Record<string, string>): Promise<string[]> {
  const file = join(folder, name);
  const api = await startApiProcess(t, {
    databaseUrl: database.url,
    aiUrl: ai.url,
    env: { NODE_OPTIONS: `--import=${HOOK}`, LOADED_MODULES: file, ...env },
  });
  await api.tick();
  t.same(await api.end('SIGTERM'), { code: 0, signal: null });
  return readFileSync(file, 'utf8').trim().split('\n');
}

t.test('A process that sends no traces loads nothing of OpenTelemetry', async (t) => {
  const modules = await loadedModules(t, 'off', { OTEL_SERVICE_NAME: 'bells' });
  t.ok(modules.length > 500, `${modules.length} modules`);
  t.ok(modules.some((url) => url.endsWith('/telemetry/tracing.ts')));
  t.same(
    modules.filter((url) => /opentelemetry/.test(url)),
    [],
  );
});

t.test('A stopping process sends its remaining spans', async (t) => {
  const otlp = await startOtlpServer(t);
  const modules = await loadedModules(t, 'on', { OTEL_EXPORTER_OTLP_ENDPOINT: otlp.url });
  t.ok(modules.some((url) => url.includes('@opentelemetry/sdk-trace')));
  t.equal(otlp.span('scheduler tick').parentId, otlp.span('GET /api/cron/scheduler').spanId);
});

t.test('A hanging collector does not keep a process from stopping', async (t) => {
  const otlp = await startOtlpServer(t);
  otlp.answer('hang');
  await loadedModules(t, 'hanging', { OTEL_EXPORTER_OTLP_ENDPOINT: otlp.url });
  t.equal(otlp.requests.length, 1);
});
