import { type FinishReason, generateText, type LanguageModelUsage, streamText, wrapLanguageModel } from 'ai';
import type { AiRequest } from './ai.ts';
import { CutShort } from './ai-failure.ts';
import { userContent } from './ai-message.ts';
import { type Route, refusedParameter, settingsFor } from './ai-provider.ts';
import { ProviderFault } from './provider-http.ts';
import { storedPieces } from './stored-text.ts';

/** So much of an answer is kept. */
export const MAX_TEXT = 1024 * 1024;

export type ProviderRoute = Route & { kind: 'provider' };

/** An answer, as either way of asking for it tells it. */
export interface Generated {
  text: string;
  reasoningText: string | undefined;
  usage: LanguageModelUsage;
  finishReason: FinishReason;
  rawFinishReason: string | undefined;
  response: { modelId: string; headers?: Record<string, string> | undefined };
}

/** Asks once, and again only without a parameter that this model turned out to refuse. */
export async function generate(request: AiRequest, route: ProviderRoute, abortSignal: AbortSignal): Promise<Generated> {
  for (;;) {
    const refuses = new Set(route.refuses);
    const { system, prompt } = request;
    const asked =
      system !== undefined && refuses.has('system') ? { ...request, prompt: `${system}\n\n${prompt}` } : request;
    const call = {
      model: route.model,
      ...(system === undefined || refuses.has('system') ? {} : { instructions: system }),
      messages: [{ role: 'user' as const, content: userContent(asked) }],
      ...settingsFor(request, refuses),
      headers: route.headers,
      abortSignal,
      maxRetries: 0,
      telemetry: { isEnabled: false },
    };
    try {
      return await (request.onText ? stream(call, request.onText) : generateText(call));
    } catch (error) {
      const parameter = refusedParameter(error);
      if (parameter === null || refuses.has(parameter)) throw error;
      route.refuses.add(parameter);
    }
  }
}

type Call = Pick<Parameters<typeof streamText>[0], 'messages' | 'headers' | 'abortSignal' | 'maxRetries'> & {
  model: ProviderRoute['model'];
};

async function stream(call: Call, onText: (delta: string) => void): Promise<Generated> {
  let opening: PromiseLike<unknown> | undefined;
  const model = wrapLanguageModel({
    model: call.model,
    middleware: {
      specificationVersion: 'v4',
      wrapStream({ doStream }) {
        opening = doStream();
        return opening as ReturnType<typeof doStream>;
      },
    },
  });
  const pieces = storedPieces(MAX_TEXT, onText);
  let text = '';
  let reasoningText = '';
  let end: Omit<Generated, 'text' | 'reasoningText'> | undefined;
  try {
    // Without `onError` the SDK writes errors to the console.
    const { stream: parts } = streamText({ ...call, model, onError: () => {} } as Parameters<typeof streamText>[0]);
    for await (const part of parts) {
      if (part.type === 'text-delta') {
        text += part.text;
        pieces.add(part.text);
      } else if (part.type === 'reasoning-delta') {
        reasoningText += part.text;
      } else if (part.type === 'error') {
        throw part.error;
      } else if (part.type === 'abort') {
        // The SDK does not say whether the request had left; the call that it has dropped does.
        await opening;
        throw new ProviderFault({ kind: 'stopped', sent: opening !== undefined });
      } else if (part.type === 'finish-step') {
        end = part;
      }
    }
    if (!end) throw new Error('The stream had no end.');
  } catch (error) {
    throw text || reasoningText ? new CutShort(text + reasoningText, error) : error;
  }
  pieces.end();
  return { ...end, text, reasoningText };
}
