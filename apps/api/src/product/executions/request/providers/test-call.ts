import type { TestProviderInput } from '@carillon/contract/admin/providers';
import type { Context } from '../../../../context.ts';
import { invalidField } from '../../../../errors.ts';
import { createAi } from '../../../../lib/ai/client.ts';
import type { Provider } from '../../../../lib/ai/providers.ts';
import { checkProvider, providerNotFound } from './write.ts';

const MAX_MS = 30_000;
const NEW = 'test';

/** Sends a few words to a model: of a stored provider, or of one that is not stored. Throws 400 and 404. */
export async function testProvider(ctx: Context, input: TestProviderInput) {
  const provider = await findProvider(ctx, input);
  const { ai } = ctx.config;
  const timeoutMs = Math.min(ai.timeoutMs, MAX_MS);
  const providers = { list: [provider], hasDefault: true, isOffline: false };
  const client = createAi({ ...ai, timeoutMs }, ctx.log, { load: async () => providers, forget() {} });
  try {
    const outcome = await client.ask({
      // The provider's own name for it may begin with that of the provider.
      model: `${provider.name}/${input.model}`,
      prompt: 'Answer with the word ok.',
      // Models that think first need more than a word.
      maxTokens: 512,
      temperature: 70,
      timeoutMs,
      signal: ctx.worker.stopping,
    });
    const model = outcome.usage?.model === `${provider.name}/${input.model}` ? input.model : outcome.usage?.model;
    const message = outcome.ok ? outcome.text.slice(0, 500).toWellFormed() : outcome.message;
    return { ok: outcome.ok, model: model ?? input.model, ms: outcome.durationMs, message };
  } finally {
    await client.close();
  }
}

async function findProvider(ctx: Context, input: TestProviderInput): Promise<Provider> {
  const { id, model: _, ...given } = input;
  const fields = Object.keys(given);
  if (id !== undefined) {
    if (fields[0]) throw invalidField(fields[0], 'must be left out, because id names a provider');
    ctx.providers.forget();
    const found = (await ctx.providers.load()).list.find((provider) => provider.id === id.toLowerCase());
    if (!found) throw providerNotFound();
    return found;
  }
  const { name = NEW, kind, baseUrl, apiKey } = given;
  if (kind === undefined) throw invalidField('kind', 'is required without id');
  if (baseUrl === undefined) throw invalidField('baseUrl', 'is required without id');
  checkProvider(given);
  const key = apiKey === undefined ? null : { value: apiKey };
  return { id: NEW, name, kind, baseUrl, apiKey: key, maxConcurrent: null, source: 'settings' };
}
