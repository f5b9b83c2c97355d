import { existsSync } from 'node:fs';
import { type Config, loadConfig } from '@carillon/api/config';
import { rotateSecrets } from '@carillon/api/secrets-rotate';
import { explainStartFailure } from '@carillon/api/start-failure';
import { connect } from '@carillon/db';
import { startEmbeddedPostgres } from '@carillon/db/embedded';

/** Nobody waits for this but the operator. */
const DEADLINE_MS = 60_000;

/**
 * `pnpm secrets:rotate`: seals every secret in the database under the first key of `ENCRYPTION_KEY`. Can be run while the
 * service works, and again. Exits with 0 when the other keys can be taken out, with 1 when something still needs one,
 * and with 2 when it cannot tell.
 */
let config: Config | null = null;
try {
  if (existsSync('.env')) process.loadEnvFile('.env');
  config = loadConfig(process.env);
  process.exitCode = await rotate(config);
} catch (error) {
  console.error(explainStartFailure(error, config) ?? error);
  process.exitCode = 2;
}

async function rotate({ databaseUrl, dataDir, sealingKeys }: Config): Promise<number> {
  await using open = new AsyncDisposableStack();
  const embedded = databaseUrl === null ? await startEmbeddedPostgres({ dataDir }) : null;
  if (embedded) open.defer(embedded.stop);
  const { db, close } = connect(databaseUrl ?? (embedded?.url as string), { max: 1, deadlineMs: DEADLINE_MS });
  open.defer(close);
  const key = sealingKeys[0]?.id;
  let failed = 0;
  let overtaken = 0;
  for await (const rotation of rotateSecrets(db, sealingKeys)) {
    console.log(`${rotation.column}: ${rotation.resealed} sealed anew under the key "${key}"`);
    for (const failure of rotation.failures) console.error(failure);
    failed += rotation.failures.length;
    overtaken += rotation.overtaken;
  }
  if (failed > 0) console.error(`${failed} secrets cannot be opened with the keys that ENCRYPTION_KEY lists.`);
  else if (overtaken > 0) console.log(`${overtaken} secrets changed meanwhile: run this once more to be sure of them.`);
  else console.log(`Every secret is sealed under the key "${key}": ENCRYPTION_KEY needs no other.`);
  return failed + overtaken > 0 ? 1 : 0;
}
