import type { Context } from '../../../../src/context.ts';
import { loadConfig } from '../../../../src/lib/config/config.ts';
import { createHttpClient } from '../../../../src/lib/egress/client.ts';

interface Test {
  teardown(work: () => Promise<void>): unknown;
}

/** What a kind of channel uses of the context: the client for addresses of users, the configuration and a clock. */
export function createSendingContext(t: Test, env: Record<string, string> = {}): Context {
  const config = loadConfig({ NODE_ENV: 'test', DATABASE_URL: 'postgres://nowhere/x', ...env });
  const http = createHttpClient(config);
  t.teardown(() => http.close());
  const now = () => new Date('2026-11-20T10:00:00.000Z');
  return { config, http, now } as Partial<Context> as Context;
}

/** The fields that the 400 of a check names. */
export function findInvalidFields(check: () => void): string[] {
  try {
    check();
    return [];
  } catch (error) {
    return Object.keys((error as { details: object }).details);
  }
}
