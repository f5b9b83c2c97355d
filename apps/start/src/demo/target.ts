import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '@carillon/api/config/config';
import { readInterval } from '@carillon/scheduler/settings';
import { startCarillon } from '../start.ts';
import { ANSWER, startProvider } from './provider.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** The Carillon that the demo talks to. */
export interface Target {
  url: string;
  /** What its provider is going to say; null where nobody knows. */
  answer: string | null;
}

/** The service at `BASE_URL`, if a Carillon answers there. */
export async function findRunning(env: Environment): Promise<Target | null> {
  const url = (env.BASE_URL || `http://127.0.0.1:${env.PORT || 3000}`).replace(/\/+$/, '');
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(3000) });
    const { name } = (await response.json()) as { name?: unknown };
    if (name !== 'Carillon') return null;
  } catch {
    return null;
  }
  console.log(`Carillon runs at ${url}: the demo uses it, and the AI provider that it is set to.`);
  return { url, answer: null };
}

/**
 * Starts a Carillon for the demo alone, in a temporary folder unless `DATA_DIR` names one, with a stand-in for an AI
 * provider unless `AI_BASE_URL` names a real one. What it starts goes on `cleanUp`.
 */
export async function startOwn(env: Environment, cleanUp: AsyncDisposableStack): Promise<Target> {
  console.log('No Carillon runs yet: the demo starts one of its own.');
  const own: Record<string, string> = { PORT: '0', LOG_LEVEL: env.LOG_LEVEL || 'error' };
  if (!env.DATA_DIR) {
    own.DATA_DIR = mkdtempSync(join(tmpdir(), 'carillon-demo-'));
    // Root's PostgreSQL runs as another user, who has to get in.
    chmodSync(own.DATA_DIR, 0o711);
    cleanUp.defer(() => rmSync(own.DATA_DIR as string, { recursive: true, force: true }));
  }
  let answer: string | null = null;
  if (!env.AI_BASE_URL && !env.ANTHROPIC_API_KEY) {
    const provider = await startProvider();
    cleanUp.defer(provider.close);
    own.AI_BASE_URL = provider.url;
    answer = ANSWER;
    console.log(`A stand-in for an AI provider listens at ${provider.url}.`);
  }
  const { url, close } = await startCarillon(loadConfig({ ...env, ...own }), readInterval(env));
  cleanUp.defer(close);
  console.log(`Carillon runs at ${url}.`);
  return { url, answer };
}
