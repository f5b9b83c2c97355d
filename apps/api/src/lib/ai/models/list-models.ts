import { parseJson, toArray, toObject } from '../../egress/exchange.ts';
import { createOperatorClient } from '../../egress/operator-client.ts';
import { findModelList, type Provider, type Providers } from '../providers.ts';

/** `unknown` if the provider has no list or did not answer. */
type ModelList = { kind: 'listed'; names: string[] } | { kind: 'unknown' } | { kind: 'offline' };

const FRESH_MS = 5 * 60_000;
/** A provider that did not answer is asked again sooner. */
const RETRY_MS = 30_000;
const TIMEOUT_MS = 2000;
const MAX_BYTES = 4 * 1024 * 1024;
const MAX_MODELS = 1000;
/** As tasks accept them. */
const MODEL_NAME = /^\S{1,200}$/;

interface Known {
  until: number;
  list: Promise<ModelList>;
}

const known = new WeakMap<Providers, Known>();

/** The models that the providers offer, as tasks name them, kept for some minutes. Never rejects, and takes at most 2 s. */
export function listModels(providers: Providers): Promise<ModelList> {
  const now = performance.now();
  const found = known.get(providers);
  if (found && now < found.until) return found.list;
  const entry = { until: now + FRESH_MS, list: readModels(providers) };
  known.set(providers, entry);
  void entry.list.then(({ kind }) => {
    if (kind === 'unknown') entry.until = performance.now() + RETRY_MS;
  });
  return entry.list;
}

async function readModels({ list, hasDefault }: Providers): Promise<ModelList> {
  if (list.length === 0) return { kind: 'offline' };
  const lists = await Promise.all(
    list.map(async (provider, at) => {
      const prefix = hasDefault && at === 0 ? '' : `${provider.name}/`;
      return (await readModelList(provider)).map(({ model }) => prefix + model);
    }),
  );
  const names = [...new Set(lists.flat())].filter((name) => MODEL_NAME.test(name)).sort();
  return names.length > 0 ? { kind: 'listed', names: names.slice(0, MAX_MODELS) } : { kind: 'unknown' };
}

export interface ListedModel {
  /** As the provider names it. */
  model: string;
  /** When it ends, if the provider says so. */
  endsAt: Date | null;
}

/** Empty if there is no list. OpenAI, its many variants and Anthropic answer `{data: [{id}]}`. Never rejects. */
export async function readModelList(provider: Provider): Promise<ListedModel[]> {
  const { origin, path, headers } = findModelList(provider);
  const client = createOperatorClient({ connectMs: TIMEOUT_MS });
  const chunks: Buffer[] = [];
  try {
    const { end, status } = await client.request({
      origin,
      path,
      method: 'GET',
      headers: { accept: 'application/json', 'accept-encoding': 'identity', 'user-agent': 'Carillon', ...headers },
      timeoutMs: TIMEOUT_MS,
      maxBytes: MAX_BYTES,
      onData: (chunk) => {
        chunks.push(chunk);
        return false;
      },
    });
    if (end !== 'complete' || status !== 200) return [];
  } finally {
    await client.close();
  }
  const { data } = toObject(parseJson(Buffer.concat(chunks).toString()));
  return toArray(data).flatMap((given) => {
    const model = toObject(given);
    const { id } = model;
    if (typeof id !== 'string' || !MODEL_NAME.test(id) || !id.isWellFormed()) return [];
    return [{ model: id, endsAt: readEnd(model) }];
  });
}

/** As OpenRouter and Mistral name it. */
function readEnd({ expiration_date, deprecation }: Record<string, unknown>): Date | null {
  const given = [expiration_date, deprecation].find((value) => typeof value === 'string');
  const at = given === undefined ? Number.NaN : Date.parse(String(given));
  return Number.isNaN(at) ? null : new Date(at);
}
