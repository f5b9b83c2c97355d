import type { Context } from '../../../context.ts';
import { invalidField } from '../../../errors.ts';
import { findModel } from '../../../lib/ai/providers.ts';
import type { WebTool } from '../../../lib/ai/request.ts';
import { findWebTools } from '../../../lib/ai/web-tools/find-web-tools.ts';

interface ToolSettings {
  aiModel: string;
  fallbackModels?: readonly string[];
  tools: readonly WebTool[];
  maxToolUses: number;
}

/** Throws 400 if the provider of the model does not have all of the tools. */
export async function checkTools(
  { config, providers, db }: Pick<Context, 'config' | 'providers' | 'db'>,
  { aiModel, fallbackModels = [], tools }: Pick<ToolSettings, 'aiModel' | 'fallbackModels' | 'tools'>,
): Promise<void> {
  if (tools.length === 0) return;
  const all = await providers.load(db);
  for (const model of [aiModel, ...fallbackModels]) {
    const available = findWebTools(config.ai, findModel(all, model)?.provider ?? null);
    const missing = tools.find((tool) => !available.includes(tool));
    if (missing) throw invalidField('tools', describeMissing(missing, model, available));
  }
}

function describeMissing(tool: WebTool, aiModel: string, available: readonly WebTool[]): string {
  const model = JSON.stringify(aiModel);
  return available.length === 0
    ? `must be empty for the model ${model}: its provider runs no web tools. Choose a model of one that does (Anthropic or OpenRouter), or leave them out`
    : `must not contain ${tool} for the model ${model}: its provider runs ${available.join(' and ')} only`;
}

/** Throws 400 if tools are required and there are none. */
export function checkRequiredTools({
  tools,
  requireTools,
}: {
  tools: readonly WebTool[];
  requireTools: boolean;
}): void {
  if (requireTools && tools.length === 0) {
    throw invalidField('requireTools', 'must be false for a task without tools');
  }
}

/** Throws 400 for more tools than uses: Anthropic limits each tool by itself, and takes no limit of zero. */
export function checkToolUses({ tools, maxToolUses }: Pick<ToolSettings, 'tools' | 'maxToolUses'>): void {
  if (maxToolUses < tools.length) {
    throw invalidField('maxToolUses', `must be at least ${tools.length}, so that each of the tools may be used`);
  }
}
