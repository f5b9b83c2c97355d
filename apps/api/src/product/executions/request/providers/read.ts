import type { Provider as ShownProvider } from '@carillon/contract/admin/providers';
import { providers } from '@carillon/db';
import type { Context } from '../../../../context.ts';
import { joinProviders, type Provider } from '../../../../lib/ai/providers.ts';

type ProviderRow = typeof providers.$inferSelect;

/** All providers, the default one first. At most five. */
export async function listProviders(ctx: Context): Promise<ShownProvider[]> {
  const rows = await ctx.db.select().from(providers).orderBy(providers.createdAt, providers.id);
  const shown = new Map(rows.map((row) => [row.id, showStored(row)]));
  return joinProviders(ctx.config.ai, rows.map(toProvider)).list.map(
    (provider) => shown.get(provider.id) ?? showEnvironment(provider),
  );
}

/** Without its key. */
export const toProvider = (row: ProviderRow): Provider => ({ ...row, apiKey: null, source: 'settings' });

export const showStored = (row: ProviderRow): ShownProvider => {
  const { id, name, kind, baseUrl, apiKeyEncrypted, maxConcurrent, createdAt, updatedAt } = row;
  const hasApiKey = apiKeyEncrypted !== null;
  return { id, name, kind, baseUrl, hasApiKey, maxConcurrent, source: 'settings', createdAt, updatedAt };
};

/** A user or a query of the address may hold a key. */
function showEnvironment({ id, name, kind, baseUrl, apiKey, maxConcurrent, source }: Provider): ShownProvider {
  const { origin, pathname } = new URL(baseUrl);
  const address = origin + (pathname === '/' ? '' : pathname);
  const instants = { createdAt: null, updatedAt: null };
  return { id, name, kind, baseUrl: address, hasApiKey: apiKey !== null, maxConcurrent, source, ...instants };
}
