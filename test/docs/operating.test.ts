import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '@carillon/api/lib/config/config';
import { testDatabase } from '@carillon/db/test-database';
import t from 'tap';
import { startCarillon } from '../../apps/start/src/start.ts';
import { emptyDatabase } from '../../packages/db/test/empty-database.ts';
import { findFreePort } from '../system/ports.ts';
import { findDifferences } from './compare.ts';
import { listPages, parseSteps, ROOT, readPage } from './pages.ts';
import { runSteps } from './run-steps.ts';

/** Stands in for pnpm, which starts slowly. */
const PNPM = `#!/bin/sh
[ "$1" = carillon ] || { echo "no script $1" >&2; exit 1; }
shift
exec "${process.execPath}" "${ROOT}apps/start/src/carillon.ts" "$@"
`;

const isThere = (program: string) => spawnSync(program, ['--version']).status === 0;
const skip = ['bash', 'curl'].every(isThere) ? false : 'there is no curl, or no bash';
const pages = listPages()
  .filter((path) => path.startsWith('docs/operating/'))
  .map((path) => ({ path, steps: parseSteps(readPage(path)) }))
  .filter(({ steps }) => steps.length > 0);

t.test('the pages for operators have commands', async (t) => {
  t.ok(pages.length > 1);
});

const folder = mkdtempSync(join(tmpdir(), 'carillon-docs-'));
let env: NodeJS.ProcessEnv;

t.before(async () => {
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'pnpm'), PNPM);
  chmodSync(join(folder, 'pnpm'), 0o755);
  const { url: DATABASE_URL } = await testDatabase(t);
  const { url: EMPTY_DATABASE_URL } = await emptyDatabase(t, 'documentation');
  const metricsPort = await findFreePort();
  const settings = {
    DATABASE_URL,
    DATA_DIR: folder,
    AI_BASE_URL: 'offline',
    STORAGE_DRIVER: 'disk',
    LOG_LEVEL: 'silent',
  };
  const config = loadConfig({ ...settings, PORT: '0', METRICS_PORT: String(metricsPort) });
  const { url, close } = await startCarillon(config, 1000);
  t.teardown(close);
  const addresses = { API: url, METRICS: `http://127.0.0.1:${metricsPort}`, EMPTY_DATABASE_URL };
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const base = { HOME: folder, LANG: 'C.UTF-8', PATH: `${folder}:${PATH}`, NODE_COMPILE_CACHE };
  env = { ...settings, ...addresses, ...base };
});

for (const { path, steps } of pages) {
  t.test(`the commands of ${path} print what the page shows`, { skip }, async (t) => {
    const printed = await runSteps(steps, { cwd: folder, env });
    for (const [at, { outcome, line }] of steps.entries()) {
      const output = printed[at] as string;
      if (outcome) t.same(findDifferences(outcome, output), [], `${path}:${line} prints what the page shows`);
    }
  });
}
