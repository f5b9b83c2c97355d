import { WEB_TOOLS } from '@carillon/db';
import type { Config } from '../../config/config.ts';
import { findModel, type Provider, type Providers } from '../providers.ts';
import type { WebTool } from '../request.ts';

/** Other regions than these have none. */
const OPENROUTER = new Map<string, readonly WebTool[]>([
  ['openrouter.ai', WEB_TOOLS],
  ['us.openrouter.ai', ['web_search']],
]);

/** The tools that a provider runs itself: Anthropic's and OpenRouter's have some, every other service none. */
export function findWebTools(
  { webTools }: Pick<Config['ai'], 'webTools'>,
  provider: Provider | null,
): readonly WebTool[] {
  if (webTools === 'none' || provider === null) return [];
  if (provider.kind === 'anthropic') return WEB_TOOLS;
  const isToldSo = webTools === 'openrouter' && provider.source === 'environment';
  return isToldSo ? WEB_TOOLS : (OPENROUTER.get(new URL(provider.baseUrl).hostname) ?? []);
}

interface OfferedTools {
  tools: WebTool[];
  /** They are switched off, or the offline model answers, or the provider has none. */
  absent: 'off' | 'offline' | 'provider' | null;
}

/** The tools of a model, and why it has none. */
export function describeWebTools(
  settings: Pick<Config['ai'], 'webTools'>,
  providers: Providers,
  model: string,
): OfferedTools {
  const provider = findModel(providers, model)?.provider ?? null;
  const tools = [...findWebTools(settings, provider)];
  if (tools.length > 0) return { tools, absent: null };
  if (settings.webTools === 'none') return { tools, absent: 'off' };
  return { tools, absent: provider === null && providers.isOffline ? 'offline' : 'provider' };
}
