import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '@carillon/api/config/config';
import { readInterval } from '@carillon/scheduler/settings';
import { startCarillon } from '../start.ts';
import { DEMO_ANSWER, startDemoProvider } from './ai-provider.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export interface Installation {
  url: string;
  /** The answer of its AI provider; null if unknown. */
  answer: string | null;
}

/** Returns the installation at `BASE_URL`, or null if Carillon does not answer there. */
export async function findInstallation(env: Environment): Promise<Installation | null> {
  const url = (env.BASE_URL || `http://127.0.0.1:${env.PORT || 3000}`).replace(/\/+$/, '');
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(3000) });
    const { name } = (await response.json()) as { name?: unknown };
    if (name !== 'Carillon') return null;
  } catch {
    return null;
  }
  console.log(`Carillon runs at ${url}: the demo uses it with its AI provider.`);
  return { url, answer: null };
}

/**
 * Starts an installation for the demo, with a temporary folder unless `DATA_DIR` is set and a local AI provider unless
 * `AI_BASE_URL` is set. `cleanUp` stops it.
 */
export async function startInstallation(env: Environment, cleanUp: AsyncDisposableStack): Promise<Installation> {
  console.log('Carillon does not run yet: the demo starts an installation of its own.');
  const overrides: Record<string, string> = { PORT: '0', LOG_LEVEL: env.LOG_LEVEL || 'error' };
  if (!env.DATA_DIR) {
    const folder = mkdtempSync(join(tmpdir(), 'carillon-demo-'));
    // For root, the embedded PostgreSQL runs as another user, who needs access.
    chmodSync(folder, 0o711);
    cleanUp.defer(() => rmSync(folder, { recursive: true, force: true }));
    overrides.DATA_DIR = folder;
  }
  let answer: string | null = null;
  if (!env.AI_BASE_URL && !env.ANTHROPIC_API_KEY) {
    const provider = await startDemoProvider();
    cleanUp.defer(provider.close);
    overrides.AI_BASE_URL = provider.url;
    answer = DEMO_ANSWER;
    console.log(`An AI provider for the demo listens at ${provider.url}.`);
  }
  const { url, close } = await startCarillon(loadConfig({ ...env, ...overrides }), readInterval(env));
  cleanUp.defer(close);
  console.log(`Carillon runs at ${url}.`);
  return { url, answer };
}
