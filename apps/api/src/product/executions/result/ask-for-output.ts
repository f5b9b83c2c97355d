import type { OutputSchema } from '@carillon/db';
import type { Ai, AiOutcome } from '../../../lib/ai/client.ts';
import { type AiRequest, createMarker, fenceText } from '../../../lib/ai/request.ts';
import { addUsage } from '../../../lib/ai/usage.ts';
import { readOutput } from './read-output.ts';

const MAX_REPEATED = 32_000;
const MAX_MESSAGE = 500;

export type OutputOutcome =
  | (Extract<AiOutcome, { ok: true }> & { output: unknown })
  | (Extract<AiOutcome, { ok: false }> & { /** If it does not match the schema. */ rejected?: RejectedAnswer });

interface RejectedAnswer {
  answer: string;
  problems: string[];
  mayBeRepaired: boolean;
}

type Request = AiRequest & { timeoutMs: number };

/**
 * Asks the model. With a schema the answer must be an object that matches it: if it is not, the model is asked once more,
 * with the problems and without its tools. The usage and the duration are those of both calls, which share the time limit.
 */
export async function askForOutput(
  ai: Pick<Ai, 'ask'>,
  request: Request,
  schema: OutputSchema | null,
): Promise<OutputOutcome> {
  if (schema === null) {
    const outcome = await ai.ask(request);
    return outcome.ok ? { ...outcome, output: null } : outcome;
  }
  const first = await ai.ask({ ...request, outputSchema: schema });
  const outcome = readOutcome(first, request, schema);
  if (outcome.ok || !outcome.rejected?.mayBeRepaired) return outcome;
  const prompt = buildRepairPrompt(request.prompt, outcome.rejected);
  const timeoutMs = Math.max(1, request.timeoutMs - first.durationMs);
  const { tools: _, ...withoutTools } = request;
  const second = await ai.ask({ ...withoutTools, outputSchema: schema, prompt, timeoutMs });
  const repaired = readOutcome(second, request, schema);
  return {
    ...repaired,
    ...(repaired.ok && first.ok && first.citations && { citations: first.citations }),
    durationMs: first.durationMs + second.durationMs,
    usage: addUsage(first.usage, second.usage),
  };
}

function readOutcome(answered: AiOutcome, { maxTokens }: Request, schema: OutputSchema): OutputOutcome {
  if (!answered.ok) return answered;
  const { text: answer, isCut, citations, ...call } = answered;
  const read = readOutput(answer, schema);
  if (read.ok) {
    return { ...call, text: read.text, output: read.output, ...(isCut && { isCut }), ...(citations && { citations }) };
  }
  // The same limit would cut the next answer as well.
  const problems = isCut && !read.isHopeless ? [`It was cut at ${maxTokens} tokens: raise maxTokens.`] : read.problems;
  return {
    ...call,
    ok: false,
    errorCode: 'INVALID_OUTPUT',
    message: buildMessage(problems),
    retryable: false,
    retryAfterMs: null,
    rejected: { answer, problems, mayBeRepaired: !isCut && !read.isHopeless },
  };
}

function buildMessage(problems: readonly string[]): string {
  const message = `The answer does not match the output schema. ${problems.join(' ')}`;
  return message.length > MAX_MESSAGE ? `${message.slice(0, MAX_MESSAGE - 1).toWellFormed()}…` : message;
}

function buildRepairPrompt(prompt: string, { answer, problems }: RejectedAnswer): string {
  const isLong = answer.length > MAX_REPEATED;
  const title = isLong ? `The first ${MAX_REPEATED} characters of that answer` : 'That answer';
  return [
    prompt,
    '',
    'An earlier answer to this does not match the JSON Schema:',
    ...problems.map((problem) => `- ${problem}`),
    fenceText(title, isLong ? answer.slice(0, MAX_REPEATED).toWellFormed() : answer, createMarker()),
    'Answer again, with one JSON object that matches the JSON Schema and nothing else.',
  ].join('\n');
}
