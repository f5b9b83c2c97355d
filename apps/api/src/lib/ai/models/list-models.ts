import type { Config } from '../../config/config.ts';
import { parseJson, toArray, toObject } from '../../egress/exchange.ts';
import { createOperatorClient } from '../../egress/operator-client.ts';
import { findModelLists, type ModelListAddress } from '../providers.ts';

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

const known = new WeakMap<Config['ai'], Known>();

/** The models that the configured providers offer, kept for some minutes. Never rejects, and takes at most 2 s. */
export function listModels(settings: Config['ai']): Promise<ModelList> {
  const now = performance.now();
  const found = known.get(settings);
  if (found && now < found.until) return found.list;
  const entry = { until: now + FRESH_MS, list: readModels(settings) };
  known.set(settings, entry);
  void entry.list.then(({ kind }) => {
    if (kind === 'unknown') entry.until = performance.now() + RETRY_MS;
  });
  return entry.list;
}

async function readModels(settings: Config['ai']): Promise<ModelList> {
  const addresses = findModelLists(settings);
  if (addresses === null) return { kind: 'offline' };
  const client = createOperatorClient({ connectMs: TIMEOUT_MS });
  try {
    const lists = await Promise.all(addresses.map((address) => readList(client, address)));
    const names = [...new Set(lists.flat())].sort().slice(0, MAX_MODELS);
    return names.length > 0 ? { kind: 'listed', names } : { kind: 'unknown' };
  } finally {
    await client.close();
  }
}

/** Empty if there is no list. OpenAI, its many variants and Anthropic answer `{data: [{id}]}`. */
async function readList(
  client: ReturnType<typeof createOperatorClient>,
  { origin, path, headers, prefix }: ModelListAddress,
): Promise<string[]> {
  const chunks: Buffer[] = [];
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
  const { data } = toObject(parseJson(Buffer.concat(chunks).toString()));
  return toArray(data)
    .map((model) => toObject(model).id)
    .filter((id): id is string => typeof id === 'string' && MODEL_NAME.test(prefix + id) && id.isWellFormed())
    .map((id) => prefix + id);
}
