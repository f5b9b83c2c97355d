import { existsSync } from 'node:fs';
import { withCachedImports } from '@carillon/runtime/cached-imports';

const [{ getTerminalTexts }, { findInstallation, startInstallation }, { runSteps }] = await withCachedImports(() =>
  Promise.all([import('@carillon/api/entry/banner'), import('./demo/installation.ts'), import('./demo/steps.ts')]),
);

/** `pnpm demo`: from an account to a stored result, a change and an alert, step by step. Exits with 0 if every check passed. */
const cleanUp = new AsyncDisposableStack();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, async () => {
    await cleanUp.disposeAsync();
    process.exit(130);
  });
}

if (existsSync('.env')) process.loadEnvFile('.env');
const { demo } = getTerminalTexts(process.env);
let passed = false;
try {
  const installation =
    (await findInstallation(process.env, demo)) ?? (await startInstallation(process.env, cleanUp, demo));
  await runSteps(installation, cleanUp, demo);
  passed = true;
} catch (error) {
  console.error(`\n✗ ${error instanceof Error ? error.message : error}`);
}
await cleanUp.disposeAsync();
console.log(`\n${passed ? demo.passed : demo.failed}`);
process.exit(passed ? 0 : 1);
