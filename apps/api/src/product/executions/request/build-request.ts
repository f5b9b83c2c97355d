import { toOneLine } from '@carillon/contract/validation/unsafe-values';
import { type ExecutionRequest, type OutputSchema, type RunContext, toInstant } from '@carillon/db';
import { createMarker } from '../../../lib/ai/request.ts';
import { appendSource, SOURCES_ARE_DATA, type SourceText } from '../sources/texts.ts';
import { appendInput, type InputText } from './inputs.ts';
import { formatInstant, toLocalTime } from './local-time.ts';
import { describePreviousResult, describeRun, type Run, TOOLS_RETURN_DATA } from './system-message.ts';
import { findData, replaceVariables, type Value } from './variables.ts';

/** An execution with what its task has stored. Instants are in PostgreSQL's format. */
export interface RequestInput {
  taskName: string;
  prompt: string;
  aiModel: string;
  timezone: string;
  context: RunContext;
  outputSchema: OutputSchema | null;
  tools: readonly string[];
  trigger: string;
  attempt: number;
  viaWebhook: boolean;
  plannedFor: string | null;
  inboundData: Record<string, unknown> | null;
  lastSuccessAt: string | null;
  previousResult: string | null;
  /** Null without any. */
  inputs: readonly InputText[] | null;
  /** Left out before they are read. */
  sourceTexts?: readonly SourceText[];
}

/** Builds what the model is sent by an execution that starts at `now`. */
export function buildRequest(input: RequestInput, now: Date, newMarker = createMarker): ExecutionRequest {
  const { prompt, aiModel: model, context, outputSchema, tools, sourceTexts = [] } = input;
  const inputs = input.inputs ?? [];
  const hasVariables = prompt.includes('{{');
  const isPlain =
    !context.clock &&
    !context.previousResult &&
    outputSchema === null &&
    tools.length === 0 &&
    !hasVariables &&
    sourceTexts.length === 0 &&
    inputs.length === 0;
  if (isPlain) return { system: null, prompt, model };

  let created: string | undefined;
  const marker = () => {
    created ??= newMarker();
    return created;
  };
  const run = readRun(input, now);
  const system = [
    ...(context.clock ? [describeRun(run)] : []),
    ...(context.previousResult ? [describePreviousResult(input.previousResult, marker)] : []),
    ...(tools.length > 0 ? [TOOLS_RETURN_DATA] : []),
    ...(sourceTexts.length > 0 ? [SOURCES_ARE_DATA] : []),
    ...(outputSchema ? [describeOutput(outputSchema)] : []),
  ].join('\n\n');
  const replaced = hasVariables ? replaceVariables(prompt, (name) => findValue(input, run, name), marker) : prompt;
  const unnamed = sourceTexts.filter(({ name }) => !prompt.includes(`{{source.${name}}}`));
  const unnamedInputs = inputs.filter(({ name }) => !prompt.includes(`{{task.${name}}}`));
  return {
    system: system || null,
    prompt: [
      replaced,
      ...unnamed.map((source) => appendSource(source, marker)),
      ...unnamedInputs.map((one) => appendInput(one, marker)),
    ].join('\n\n'),
    model,
  };
}

function readRun({ timezone, plannedFor, lastSuccessAt, ...input }: RequestInput, now: Date): Run {
  const toLocal = (instant: string | null) =>
    instant === null ? null : toLocalTime(timezone, toInstant(instant).getTime());
  const { taskName, trigger, attempt, viaWebhook } = input;
  return {
    taskName,
    trigger,
    attempt,
    viaWebhook,
    starts: toLocalTime(timezone, now.getTime()),
    planned: toLocal(plannedFor),
    lastSuccess: toLocal(lastSuccessAt),
  };
}

/** Undefined for an unknown name. */
function findValue(
  { inboundData, previousResult, inputs, sourceTexts }: RequestInput,
  run: Run,
  name: string,
): Value | undefined {
  if (name.startsWith('task.')) return findInput(inputs ?? [], name.slice('task.'.length));
  if (name.startsWith('data.')) return findData(inboundData, name.slice('data.'.length));
  if (name.startsWith('source.')) return findSource(sourceTexts, name.slice('source.'.length));
  if (name === 'previous_result' && previousResult !== null) return { text: previousResult, isData: true };
  const text = findText(run, name);
  return text === undefined ? undefined : { text, isData: false };
}

function findInput(inputs: readonly InputText[], name: string): Value | undefined {
  const input = inputs.find((one) => one.name === name);
  if (!input) return undefined;
  if (input.text !== null) return { text: input.text, isData: true };
  return { text: input.taskName === null ? 'none, because the task was deleted' : 'none', isData: false };
}

function findSource(sourceTexts: readonly SourceText[] = [], name: string): Value | undefined {
  const source = sourceTexts.find((one) => one.name === name);
  if (!source) return undefined;
  const { text, note } = source;
  return text === null ? { text: `(${note ?? 'It has no text.'})`, isData: false } : { text, isData: true, note };
}

function findText({ starts, planned, lastSuccess, ...run }: Run, name: string): string | undefined {
  const moment = planned ?? starts;
  switch (name) {
    case 'date':
      return moment.date;
    case 'time':
      return moment.time;
    case 'datetime':
      return formatInstant(moment);
    case 'weekday':
      return moment.weekday;
    case 'timezone':
      return moment.zone;
    case 'planned_for':
      return new Date(moment.at).toISOString();
    case 'last_success_at':
      return lastSuccess ? formatInstant(lastSuccess) : 'never';
    case 'previous_result':
      return 'none';
    case 'task_name':
      return toOneLine(run.taskName);
    case 'attempt':
      return String(run.attempt);
    case 'trigger':
      return run.trigger;
    default:
      return undefined;
  }
}

/** Says in the system message what to answer: providers know only a part of JSON Schema by themselves, or nothing. */
const describeOutput = (schema: OutputSchema): string =>
  [
    'Answer with one JSON object and nothing else: no Markdown, and no text around it.',
    'The object must match this JSON Schema:',
    JSON.stringify(schema),
  ].join('\n');
