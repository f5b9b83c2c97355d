import { toStorableText } from '@carillon/contract/validation/unsafe-values';
import type { Config } from '../config/config.ts';
import { anthropicMessages } from './anthropic-messages.ts';
import { chatCompletions } from './chat-completions.ts';
import type { ErrorCode } from './errors.ts';
import type { Protocol } from './reply.ts';

const ANTHROPIC_PREFIX = 'anthropic/';
const ANTHROPIC_URL = 'https://api.anthropic.com/v1';

export type Service = { kind: 'anthropic' | 'compatible'; url: string } | { kind: 'offline' } | { kind: 'none' };

export type Route =
  | { kind: 'offline' }
  | { kind: 'rejected'; errorCode: ErrorCode; message: string }
  | ({ kind: 'provider' /** As the service names it. */; model: string; key: string } & Endpoint);

interface Endpoint {
  protocol: Protocol;
  apiUrl: string;
  origin: string;
  path: string;
}

/** `anthropic/…` goes to the Messages API if its key is configured, everything else to the compatible service. */
export function findService(settings: Config['ai'], model: string): Service {
  const { baseUrl, anthropicApiKey } = settings;
  if (anthropicApiKey && model.startsWith(ANTHROPIC_PREFIX)) {
    return { kind: 'anthropic', url: getAnthropicUrl(settings) };
  }
  if (baseUrl === 'offline' || (baseUrl === null && !anthropicApiKey)) return { kind: 'offline' };
  return baseUrl === null ? { kind: 'none' } : { kind: 'compatible', url: baseUrl };
}

/** Anthropic's own clients leave `/v1` out of the base address, others include it: both are accepted. */
function getAnthropicUrl({ anthropicBaseUrl }: Config['ai']): string {
  const url = anthropicBaseUrl ?? ANTHROPIC_URL;
  return /\/v\d+\/*$/.test(new URL(url).pathname) ? url : appendPath(url, '/v1').href;
}

/** `find` uses the user's own key for the OpenAI-compatible service, if there is one. */
export function createProviders(settings: Config['ai']) {
  const { baseUrl, apiKey, anthropicApiKey } = settings;
  const endpoints = {
    anthropic: buildEndpoint(anthropicMessages, getAnthropicUrl(settings)),
    compatible: baseUrl === null || baseUrl === 'offline' ? null : buildEndpoint(chatCompletions, baseUrl),
  };
  return {
    find(name: string, userKey: string | null): Route {
      const { kind } = findService(settings, name);
      if (kind === 'offline') return { kind };
      if (kind === 'anthropic') {
        return buildRoute(endpoints.anthropic, name.slice(ANTHROPIC_PREFIX.length), anthropicApiKey ?? '');
      }
      if (endpoints.compatible) return buildRoute(endpoints.compatible, name, userKey || apiKey || '');
      const message = `Model "${name}" needs AI_BASE_URL, which is not set; only models named anthropic/… can be asked.`;
      return { kind: 'rejected', errorCode: 'INVALID_REQUEST', message: toStorableText(message, 500) };
    },
  };
}

export interface ModelListAddress {
  origin: string;
  path: string;
  headers: Record<string, string>;
  /** What tasks write before the names of this list. */
  prefix: string;
}

/** Where the providers list their models; null without a provider. */
export function findModelLists(settings: Config['ai']): ModelListAddress[] | null {
  const { baseUrl, apiKey, anthropicApiKey } = settings;
  const lists: ModelListAddress[] = [];
  const add = (protocol: Protocol, url: string, key: string, prefix: string) => {
    const { origin, pathname, search } = appendPath(url, '/models');
    lists.push({ origin, path: pathname + search, headers: protocol.buildHeaders(key), prefix });
  };
  if (baseUrl !== null && baseUrl !== 'offline') add(chatCompletions, baseUrl, apiKey ?? '', '');
  if (anthropicApiKey) add(anthropicMessages, getAnthropicUrl(settings), anthropicApiKey, ANTHROPIC_PREFIX);
  return lists.length > 0 ? lists : null;
}

function buildEndpoint(protocol: Protocol, apiUrl: string): Endpoint {
  const { origin, pathname, search } = appendPath(apiUrl, protocol.path);
  // A query may hold a key: this address is logged.
  return { protocol, apiUrl: new URL(apiUrl).origin + new URL(apiUrl).pathname, origin, path: pathname + search };
}

/** A query, such as the version of Azure's API, stays behind the path. */
function appendPath(address: string, path: string): URL {
  const url = new URL(address);
  url.pathname = url.pathname.replace(/\/+$/, '') + path;
  url.hash = '';
  return url;
}

function buildRoute(endpoint: Endpoint, model: string, key: string): Route {
  if (!/^[\x21-\x7e]*$/.test(key)) {
    const message = 'The API key has characters that no key has: it was probably copied with something around it.';
    return { kind: 'rejected', errorCode: 'AUTHENTICATION_FAILED', message };
  }
  return { kind: 'provider', model, key, ...endpoint };
}
