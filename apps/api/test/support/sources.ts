import { loadConfig } from '../../src/lib/config/config.ts';
import type { PageClientOptions } from '../../src/lib/sources/fetch.ts';
import { createSourceReader, type SourceReader } from '../../src/lib/sources/reader.ts';
import { PRODUCTION_ENV } from './production.ts';

interface Test {
  after(work: () => unknown): unknown;
}

interface ReaderOptions extends PageClientOptions {
  env?: Record<string, string>;
}

/** A reader that reaches `site` on this machine. Closes at the end of `t`. */
export function createTestReader(t: Test, site: { port: number }, options: ReaderOptions = {}): SourceReader {
  const { env, ...others } = options;
  const config = loadConfig({
    ...PRODUCTION_ENV,
    NODE_ENV: 'test',
    SOURCES_ALLOW: `127.0.0.1/32:${site.port}`,
    ...env,
  });
  const reader = createSourceReader(config, { unreachableMs: 300, ...others });
  t.after(() => reader.close());
  return reader;
}
