import { loadConfig } from '../../src/lib/config/config.ts';
import type { PageClientOptions } from '../../src/lib/sources/fetch.ts';
import { createSourceReader, type SourceReader } from '../../src/lib/sources/reader.ts';
import { PRODUCTION_ENV } from './production.ts';

interface Test {
  after(work: () => unknown): unknown;
}

interface ReaderOptions extends PageClientOptions {
  /** On this machine, and may be read. */
  site?: { port: number };
  env?: Record<string, string>;
}

/** What the tests wait for an address that cannot be reached. */
export const UNREACHABLE_MS = 300;

/** Closes at the end of `t`. */
export function createTestReader(t: Test, { site, env, ...options }: ReaderOptions = {}): SourceReader {
  const allowed = site && { SOURCES_ALLOW: `127.0.0.1/32:${site.port}` };
  const config = loadConfig({ ...PRODUCTION_ENV, NODE_ENV: 'test', ...allowed, ...env });
  const reader = createSourceReader(config, { unreachableMs: UNREACHABLE_MS, ...options });
  t.after(() => reader.close());
  return reader;
}
