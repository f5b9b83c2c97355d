import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '@carillon/api/lib/config/config';
import { readInterval } from '@carillon/scheduler/settings';
import type { Texts } from '@carillon/texts';
import { startCarillon } from '../start.ts';
import { type DemoProvider, startDemoProvider } from './ai-provider.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export interface Installation {
  url: string;
  /** Null if it has another AI provider. */
  provider: DemoProvider | null;
  /** Stops it, and starts it again with a clock that is ahead by `aheadMs`. Null if its data is not the demo's. */
  restart: ((aheadMs: number) => Promise<void>) | null;
}

/** Returns the installation at `BASE_URL`, or null if Carillon does not answer there. */
export async function findInstallation(env: Environment, demo: Texts['demo']): Promise<Installation | null> {
  const url = (env.BASE_URL || `http://127.0.0.1:${env.PORT || 3000}`).replace(/\/+$/, '');
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(3000) });
    const { name } = (await response.json()) as { name?: unknown };
    if (name !== 'Carillon') return null;
  } catch {
    return null;
  }
  console.log(demo.usesService(url));
  return { url, provider: null, restart: null };
}

/**
 * Starts an installation for the demo, with a temporary folder unless `DATA_DIR` is set and a local AI provider unless
 * `AI_BASE_URL` is set. `cleanUp` stops it.
 */
export async function startInstallation(
  env: Environment,
  cleanUp: AsyncDisposableStack,
  demo: Texts['demo'],
): Promise<Installation> {
  console.log(demo.startsOwn);
  const overrides: Record<string, string> = { PORT: '0', LOG_LEVEL: env.LOG_LEVEL || 'error' };
  if (!env.DATA_DIR) {
    const folder = mkdtempSync(join(tmpdir(), 'carillon-demo-'));
    // For root, the embedded PostgreSQL runs as another user, who needs access.
    chmodSync(folder, 0o711);
    cleanUp.defer(() => rmSync(folder, { recursive: true, force: true }));
    overrides.DATA_DIR = folder;
  }
  let provider: DemoProvider | null = null;
  if (!env.AI_BASE_URL && !env.ANTHROPIC_API_KEY) {
    provider = await startDemoProvider();
    cleanUp.defer(provider.close);
    overrides.AI_BASE_URL = provider.url;
    overrides.AI_WEB_TOOLS = 'openrouter';
    overrides.EGRESS_ALLOW = '127.0.0.0/8';
    console.log(demo.provider(provider.url));
  }
  const config = loadConfig({ ...env, ...overrides });
  let carillon = await startCarillon(config, readInterval(env));
  cleanUp.defer(() => carillon.close());
  const { url } = carillon;
  console.log(demo.runsAt(url));
  const isTemporary = !env.DATA_DIR && !env.DATABASE_URL;
  const restart = async (aheadMs: number) => {
    await carillon.close();
    const now = () => new Date(Date.now() + aheadMs);
    carillon = await startCarillon({ ...config, port: Number(new URL(url).port) }, readInterval(env), { now });
  };
  return { url, provider, restart: isTemporary ? restart : null };
}
