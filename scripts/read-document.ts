import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildApp } from '../apps/api/src/entry/app.ts';
import { openContext } from '../apps/api/src/entry/open-context.ts';
import { loadConfig } from '../apps/api/src/lib/config/config.ts';
import type { Document } from '../packages/client/generate/generate-client.ts';

/** Nothing connects to it: building the application needs no database. */
const DATABASE_URL = 'postgres://127.0.0.1:9/none';

/** The OpenAPI document of this version, with the operations that only exist with files on disk. */
export async function readDocument(): Promise<Document> {
  const dataDir = mkdtempSync(join(tmpdir(), 'carillon-document-'));
  await using cleanUp = new AsyncDisposableStack();
  cleanUp.defer(() => rmSync(dataDir, { recursive: true }));
  const config = loadConfig({ NODE_ENV: 'test', DATA_DIR: dataDir, STORAGE_DRIVER: 'disk', LOG_LEVEL: 'silent' });
  const { ctx, close } = await openContext(config, DATABASE_URL);
  cleanUp.defer(close);
  // Loading the modules delays the event loop.
  const app = await buildApp(ctx, { maxEventLoopDelayMs: Number.POSITIVE_INFINITY });
  cleanUp.defer(() => app.close());
  return app.swagger() as unknown as Document;
}
