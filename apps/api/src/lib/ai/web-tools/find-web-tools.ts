import { WEB_TOOLS } from '@carillon/db';
import type { Config } from '../../config/config.ts';
import { findService } from '../providers.ts';
import type { WebTool } from '../request.ts';

/** Other regions than these have none. */
const OPENROUTER = new Map<string, readonly WebTool[]>([
  ['openrouter.ai', WEB_TOOLS],
  ['us.openrouter.ai', ['web_search']],
]);

/** The tools that the service of a model runs itself: Anthropic's and OpenRouter's have some, every other service none. */
export function findWebTools(settings: Config['ai'], model: string): readonly WebTool[] {
  if (settings.webTools === 'none') return [];
  const service = findService(settings, model);
  if (service.kind === 'anthropic') return WEB_TOOLS;
  if (service.kind !== 'compatible') return [];
  return settings.webTools === 'openrouter' ? WEB_TOOLS : (OPENROUTER.get(new URL(service.url).hostname) ?? []);
}

interface OfferedTools {
  tools: WebTool[];
  /** They are switched off, or the offline model answers, or the provider has none. */
  absent: 'off' | 'offline' | 'provider' | null;
}

/** The tools of a model, and why it has none. */
export function describeWebTools(settings: Config['ai'], model: string): OfferedTools {
  const tools = [...findWebTools(settings, model)];
  if (tools.length > 0) return { tools, absent: null };
  if (settings.webTools === 'none') return { tools, absent: 'off' };
  return { tools, absent: findService(settings, model).kind === 'offline' ? 'offline' : 'provider' };
}
