import type { Config } from '../config/config.ts';

export const ANTHROPIC_PREFIX = 'anthropic/';
const ANTHROPIC_URL = 'https://api.anthropic.com/v1';

/** A service by the protocol that it speaks, and its address. */
export type Service =
  | { kind: 'anthropic' | 'compatible'; url: string }
  | { kind: 'offline' }
  /** Only models of Anthropic's can be asked. */
  | { kind: 'none' };

/**
 * Which service serves a model (decisions §7): `anthropic/…` the Anthropic Messages API where its key is set, everything
 * else the OpenAI-compatible one; without a provider the offline model.
 */
export function serviceOf(settings: Config['ai'], model: string): Service {
  const { baseUrl, anthropicApiKey } = settings;
  if (anthropicApiKey && model.startsWith(ANTHROPIC_PREFIX)) {
    return { kind: 'anthropic', url: anthropicUrlOf(settings) };
  }
  if (baseUrl === 'offline' || (baseUrl === null && !anthropicApiKey)) return { kind: 'offline' };
  return baseUrl === null ? { kind: 'none' } : { kind: 'compatible', url: baseUrl };
}

/** Anthropic's own clients leave `/v1` out of the base address, others want it in: both are taken. */
export function anthropicUrlOf({ anthropicBaseUrl }: Config['ai']): string {
  const url = anthropicBaseUrl ?? ANTHROPIC_URL;
  return /\/v\d+$/.test(url) ? url : `${url}/v1`;
}
