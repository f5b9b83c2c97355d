import { toStorableText } from '@carillon/contract/validation/unsafe-values';
import type { PROVIDER_KINDS } from '@carillon/db';
import type { Config } from '../config/config.ts';
import { anthropicMessages } from './anthropic-messages.ts';
import { chatCompletions } from './chat-completions.ts';
import type { ErrorCode } from './errors.ts';
import type { Protocol } from './reply.ts';

/** A service that runs models. */
export interface Provider {
  /** Of the environment: its name. */
  id: string;
  /** Models are `<name>/<model>`. */
  name: string;
  kind: (typeof PROVIDER_KINDS)[number];
  baseUrl: string;
  /** Null without one; `unreadable` if its encryption key is gone. */
  apiKey: { value: string } | 'unreadable' | null;
  /** Calls at once, over all processes; null for no limit. */
  maxConcurrent: number | null;
  source: 'environment' | 'settings';
}

/** All providers, the default one first; without a default one `hasDefault` is false. */
export interface Providers {
  list: readonly Provider[];
  hasDefault: boolean;
  /** Whether the built-in model answers for what is of no provider. */
  isOffline: boolean;
}

/** `default` and `anthropic` of the environment. */
export const ENVIRONMENT_NAMES = { default: 'default', anthropic: 'anthropic' } as const;
const ANTHROPIC_URL = 'https://api.anthropic.com/v1';

const PROTOCOLS: Record<Provider['kind'], Protocol> = { openai: chatCompletions, anthropic: anthropicMessages };

/** Those of the environment. */
export function listEnvironmentProviders(settings: Config['ai']): Provider[] {
  const { baseUrl, apiKey, anthropicApiKey, anthropicBaseUrl } = settings;
  const common = { maxConcurrent: null, source: 'environment' as const };
  const named = (name: string) => ({ id: name, name, ...common });
  return [
    ...(baseUrl === null || baseUrl === 'offline'
      ? []
      : [{ ...named(ENVIRONMENT_NAMES.default), kind: 'openai' as const, baseUrl, apiKey: toKey(apiKey) }]),
    ...(anthropicApiKey
      ? [
          {
            ...named(ENVIRONMENT_NAMES.anthropic),
            kind: 'anthropic' as const,
            baseUrl: anthropicBaseUrl ?? ANTHROPIC_URL,
            apiKey: toKey(anthropicApiKey),
          },
        ]
      : []),
  ];
}

const toKey = (value: string | null) => (value ? { value } : null);

/**
 * Those of the environment and of the settings, which are in the order of their creation. The default is `AI_BASE_URL`, or
 * else the first of the settings. A name of the environment wins.
 */
export function joinProviders(settings: Config['ai'], stored: readonly Provider[]): Providers {
  const environment = listEnvironmentProviders(settings);
  const isDefault = ({ name }: Provider) => name === ENVIRONMENT_NAMES.default;
  const [first, ...rest] = stored;
  const hasEnvironmentDefault = environment.some(isDefault);
  const list = hasEnvironmentDefault || !first ? [...environment, ...stored] : [first, ...environment, ...rest];
  return {
    list,
    hasDefault: hasEnvironmentDefault || first !== undefined,
    isOffline: list.length === 0 || settings.baseUrl === 'offline',
  };
}

export interface FoundModel {
  provider: Provider;
  /** As the provider names it. */
  model: string;
  isDefault: boolean;
}

/** `<provider>/<model>` is a model of that provider, any other name one of the default provider. Null without that. */
export function findModel({ list, hasDefault }: Providers, name: string): FoundModel | null {
  const slash = name.indexOf('/');
  const named =
    slash > 0 && slash < name.length - 1 ? list.find((one) => one.name === name.slice(0, slash)) : undefined;
  const [first] = list;
  const standard = hasDefault && first ? first : null;
  if (named) return { provider: named, model: name.slice(slash + 1), isDefault: named === standard };
  return standard && { provider: standard, model: name, isDefault: true };
}

export type Route =
  | { kind: 'offline' }
  | { kind: 'rejected'; errorCode: ErrorCode; message: string }
  | ({ kind: 'provider'; provider: string /** As the service names it. */; model: string; key: string } & Endpoint);

interface Endpoint {
  protocol: Protocol;
  apiUrl: string;
  origin: string;
  path: string;
}

/** `userKey`: the user's own key, which only the default provider gets. */
export function findRoute(providers: Providers, name: string, userKey: string | null): Route {
  const found = findModel(providers, name);
  if (!found) {
    if (providers.isOffline) return { kind: 'offline' };
    return reject('UNKNOWN_MODEL', `There is no provider for the model "${name}": set AI_BASE_URL, or add one.`);
  }
  const { provider, model, isDefault } = found;
  const { apiKey } = provider;
  if (apiKey === 'unreadable' && !(isDefault && userKey)) {
    return reject(
      'AUTHENTICATION_FAILED',
      `The API key of the provider "${provider.name}" cannot be read any more: save it again.`,
    );
  }
  const key = (isDefault && userKey) || getKey(provider);
  if (!/^[\x21-\x7e]*$/.test(key)) {
    return reject(
      'AUTHENTICATION_FAILED',
      'The API key has characters that no key has: it was probably copied with something around it.',
    );
  }
  return { kind: 'provider', provider: provider.name, model, key, ...buildEndpoint(provider) };
}

const reject = (errorCode: ErrorCode, message: string): Route & { kind: 'rejected' } => ({
  kind: 'rejected',
  errorCode,
  message: toStorableText(message, 500),
});

/** The address of a provider's API, without a query. */
export const getApiUrl = (provider: Pick<Provider, 'kind' | 'baseUrl'>): string => {
  const { origin, pathname } = new URL(getBaseUrl(provider));
  return origin + pathname;
};

/** The keys of all providers, which no message may contain. */
export const listKeys = ({ list }: Providers): string[] => list.map(getKey).filter((key) => key !== '');

/** Empty without a key that can be read. */
const getKey = ({ apiKey }: Provider): string => (apiKey === null || apiKey === 'unreadable' ? '' : apiKey.value);

/** Where a provider lists its models. */
export function findModelList(provider: Provider) {
  const { origin, pathname, search } = appendPath(getBaseUrl(provider), '/models');
  return { origin, path: pathname + search, headers: PROTOCOLS[provider.kind].buildHeaders(getKey(provider)) };
}

/** Anthropic's own clients leave `/v1` out of the base address, others include it: both are accepted. */
function getBaseUrl({ kind, baseUrl }: Pick<Provider, 'kind' | 'baseUrl'>): string {
  if (kind === 'openai' || /\/v\d+\/*$/.test(new URL(baseUrl).pathname)) return baseUrl;
  return appendPath(baseUrl, '/v1').href;
}

function buildEndpoint(provider: Provider): Endpoint {
  const protocol = PROTOCOLS[provider.kind];
  const { origin, pathname, search } = appendPath(getBaseUrl(provider), protocol.path);
  // A query may hold a key: this address is logged.
  return { protocol, apiUrl: getApiUrl(provider), origin, path: pathname + search };
}

/** A query, such as the version of Azure's API, stays behind the path. */
function appendPath(address: string, path: string): URL {
  const url = new URL(address);
  url.pathname = url.pathname.replace(/\/+$/, '') + path;
  url.hash = '';
  return url;
}
