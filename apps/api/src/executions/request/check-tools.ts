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
  const missing = tools.filter((tool) => !available.includes(tool));
  if (missing.length === 0) return;
  throw invalidField(
    'tools',
    `must not have ${missing.join(' and ')}: the provider of the model ${JSON.stringify(aiModel)} does not run it. Choose a model of a provider that does (Anthropic or OpenRouter), or leave it out`,
  );
}
