import { existsSync } from 'node:fs';
import { runStory } from './demo/story.ts';
import { findRunning, startOwn } from './demo/target.ts';

/** The main job from an account to a stored result, told step by step; ends with 0 only if all of it held. */
const cleanUp = new AsyncDisposableStack();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, async () => {
    await cleanUp.disposeAsync();
    process.exit(130);
  });
}

let held = false;
try {
  if (existsSync('.env')) process.loadEnvFile('.env');
  const target = (await findRunning(process.env)) ?? (await startOwn(process.env, cleanUp));
  await runStory(target, cleanUp);
  held = true;
} catch (error) {
  console.error(`\n✗ ${error instanceof Error ? error.message : error}`);
}
await cleanUp.disposeAsync();
console.log(held ? '\n✓ All of it held.' : '\nThe demo failed.');
process.exit(held ? 0 : 1);
