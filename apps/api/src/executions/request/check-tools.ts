import type { WebTool } from '../../ai/request.ts';
import { findWebTools } from '../../ai/web-tools/find-web-tools.ts';
import type { Context } from '../../context.ts';
import { invalidField } from '../../errors.ts';

/** Throws 400 if the provider of the model does not have all of the tools. */
export function checkTools(
  { config }: Pick<Context, 'config'>,
  { aiModel, tools }: { aiModel: string; tools: readonly WebTool[] },
): void {
  const available = tools.length === 0 ? [] : findWebTools(config.ai, aiModel);
  if (tools.every((tool) => available.includes(tool))) return;
  throw invalidField(
    'tools',
    `must be empty for the model ${JSON.stringify(aiModel)}: its provider runs no web tools. Choose a model of one that does (Anthropic or OpenRouter), or leave them out`,
  );
}
