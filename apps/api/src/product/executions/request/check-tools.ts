import type { Context } from '../../../context.ts';
import { invalidField } from '../../../errors.ts';
import type { WebTool } from '../../../lib/ai/request.ts';
import { findWebTools } from '../../../lib/ai/web-tools/find-web-tools.ts';

interface ToolSettings {
  aiModel: string;
  tools: readonly WebTool[];
  maxToolUses: number;
}

/** Throws 400 if the provider of the model does not have all of the tools. */
export function checkTools(
  { config }: Pick<Context, 'config'>,
  { aiModel, tools }: Pick<ToolSettings, 'aiModel' | 'tools'>,
): void {
  if (tools.length === 0) return;
  const available = findWebTools(config.ai, aiModel);
  const missing = tools.find((tool) => !available.includes(tool));
  if (missing) throw invalidField('tools', describeMissing(missing, aiModel, available));
}

function describeMissing(tool: WebTool, aiModel: string, available: readonly WebTool[]): string {
  const model = JSON.stringify(aiModel);
  return available.length === 0
    ? `must be empty for the model ${model}: its provider runs no web tools. Choose a model of one that does (Anthropic or OpenRouter), or leave them out`
    : `must not contain ${tool} for the model ${model}: its provider runs ${available.join(' and ')} only`;
}

/** Throws 400 for more tools than uses: Anthropic limits each tool by itself, and takes no limit of zero. */
export function checkToolUses({ tools, maxToolUses }: Pick<ToolSettings, 'tools' | 'maxToolUses'>): void {
  if (maxToolUses < tools.length) {
    throw invalidField('maxToolUses', `must be at least ${tools.length}, so that each of the tools may be used`);
  }
}
