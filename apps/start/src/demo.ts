import { existsSync } from 'node:fs';
import { withCachedImports } from '@carillon/runtime/cached-imports';

const [{ findInstallation, startInstallation }, { runSteps }] = await withCachedImports(() =>
  Promise.all([import('./demo/installation.ts'), import('./demo/steps.ts')]),
);

/** `pnpm demo`: from an account to a stored result, a change and an alert, step by step. Exits with 0 if every check passed. */
const cleanUp = new AsyncDisposableStack();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, async () => {
    await cleanUp.disposeAsync();
    process.exit(130);
  });
}

let passed = false;
try {
  if (existsSync('.env')) process.loadEnvFile('.env');
  const installation = (await findInstallation(process.env)) ?? (await startInstallation(process.env, cleanUp));
  await runSteps(installation, cleanUp);
  passed = true;
} catch (error) {
  console.error(`\n✗ ${error instanceof Error ? error.message : error}`);
}
await cleanUp.disposeAsync();
console.log(passed ? '\n✓ Every step worked.' : '\nThe demo failed.');
process.exit(passed ? 0 : 1);
