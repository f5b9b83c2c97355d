import { toStorableText } from '@carillon/db/storable-text';
import type { Config } from '../config/config.ts';
import { anthropicMessages } from './anthropic-messages.ts';
import { chatCompletions } from './chat-completions.ts';
import type { ErrorCode } from './client.ts';
import { ANTHROPIC_PREFIX, anthropicUrlOf, serviceOf } from './protocol.ts';
import type { Protocol } from './reply.ts';

/** Who answers a model's name. */
export type Route =
  | { kind: 'offline' }
  | { kind: 'refused'; errorCode: ErrorCode; message: string }
  | ({ kind: 'provider' /** As the service names it. */; model: string; key: string } & Endpoint);

interface Endpoint {
  protocol: Protocol;
  apiUrl: string;
  origin: string;
  path: string;
}

/** Finds for a model how its service is asked: with the user's own key, where that service takes one and there is one. */
export function createProviders(settings: Config['ai']) {
  const { baseUrl, apiKey, anthropicApiKey } = settings;
  const endpoints = {
    anthropic: endpointOf(anthropicMessages, anthropicUrlOf(settings)),
    compatible: baseUrl === null || baseUrl === 'offline' ? null : endpointOf(chatCompletions, baseUrl),
  };
  return {
    find(name: string, ownKey: string | null): Route {
      const { kind } = serviceOf(settings, name);
      if (kind === 'offline') return { kind };
      if (kind === 'anthropic') {
        return withKey(endpoints.anthropic, name.slice(ANTHROPIC_PREFIX.length), anthropicApiKey ?? '');
      }
      if (endpoints.compatible) return withKey(endpoints.compatible, name, ownKey || apiKey || '');
      const message = `Model "${name}" needs AI_BASE_URL, which is not set; only models named anthropic/… can be asked.`;
      return { kind: 'refused', errorCode: 'INVALID_REQUEST', message: toStorableText(message, 500) };
    },
  };
}

function endpointOf(protocol: Protocol, apiUrl: string): Endpoint {
  const { origin, pathname, search } = new URL(apiUrl.replace(/\/$/, '') + protocol.path);
  return { protocol, apiUrl, origin, path: pathname + search };
}

function withKey(endpoint: Endpoint, model: string, key: string): Route {
  if (!/^[\x21-\x7e]*$/.test(key)) {
    const message = 'The API key has characters that no key has: it was probably copied with something around it.';
    return { kind: 'refused', errorCode: 'AUTHENTICATION_FAILED', message };
  }
  return { kind: 'provider', model, key, ...endpoint };
}
