import { setImmediate as nextTurn } from 'node:timers/promises';
import { toStorableText } from '@carillon/contract/validation/unsafe-values';
import { estimateTokenCount, sliceByTokens } from 'tokenx';
import { buildSample } from './models/sample.ts';
import { type AiRequest, estimateInputTokens } from './request.ts';
import type { AiUsage } from './usage.ts';

/** For installations without a provider: no network, free, and the same answer to the same request. */
export async function askOfflineModel(request: AiRequest): Promise<{ text: string; isCut?: true; usage: AiUsage }> {
  const whole = request.outputSchema ? JSON.stringify(buildSample(request.outputSchema)) : describe(request);
  const isCut = estimateTokenCount(whole) > request.maxTokens;
  const text = isCut ? sliceByTokens(whole, 0, request.maxTokens) : whole;
  for (const word of (request.onText && text.match(/\S+\s*|\s+/g)) ?? []) {
    request.onText?.(word);
    await nextTurn();
  }
  return {
    text,
    ...(isCut && { isCut }),
    usage: {
      model: 'offline',
      inputTokens: estimateInputTokens(request),
      outputTokens: estimateTokenCount(text),
      estimated: false,
      costUsd: 0,
    },
  };
}

function describe({ prompt, model, offlineText }: AiRequest): string {
  const words = prompt.split(/\s+/u).filter(Boolean);
  const beginning = words.slice(0, 12).join(' ');
  const description = toStorableText(
    [
      'No AI provider is configured, so this answer comes from the built-in offline model, which understands nothing.',
      'For real answers set AI_BASE_URL and AI_API_KEY (any OpenAI-compatible service) or ANTHROPIC_API_KEY.',
      `The prompt for model "${model}" has ${words.length} words and begins: ${beginning.slice(0, 200)}`,
    ].join('\n'),
    2000,
  );
  return offlineText ? `${description}\n\n${offlineText}` : description;
}
