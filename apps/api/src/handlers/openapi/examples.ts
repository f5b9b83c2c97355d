import { EXAMPLES } from '@carillon/contract/examples/index';
import { FILE_TYPES } from '@carillon/contract/tasks/files';
import { parse } from 'yaml';
import { type Document, listEndpoints, type Operation, type Parameter } from './document.ts';

/** Adds the contract's example of a request and its responses to each operation. */
export function addExamples(document: Document): void {
  for (const { operation } of listEndpoints(document)) {
    const example = EXAMPLES[operation.operationId ?? ''];
    if (!example) continue;
    const { params, query, headers, body, response, eventStream } = example;
    for (const parameter of operation.parameters ?? []) {
      addParameterExample(parameter, { path: params, query, header: headers }[parameter.in]);
    }
    for (const [type, media] of Object.entries(operation.requestBody?.content ?? {})) {
      media.example = type === FILE_TYPES.jsonl ? toLines(body) : body;
    }
    for (const [status, value] of Object.entries(response)) addResponseExample(operation, status, value, eventStream);
  }
}

function addParameterExample(parameter: Parameter, values: Record<string, unknown> | undefined): void {
  const value = values?.[parameter.name];
  if (value !== undefined) parameter.example = value;
}

function addResponseExample({ responses }: Operation, status: string, value: unknown, eventStream?: string): void {
  for (const [type, media] of Object.entries(responses?.[status]?.content ?? {})) {
    if (type === FILE_TYPES.jsonl) media.example = toLines(value);
    else media.example = type === 'text/event-stream' ? (eventStream ?? toEventStream(value)) : value;
  }
}

/** The tasks of a file in YAML, one a line. */
const toLines = (file: unknown): string =>
  (parse(file as string) as object[]).map((task) => `${JSON.stringify(task)}\n`).join('');

/** The events that stream an answer of agent mode. */
function toEventStream(response: unknown): string {
  const { content } = (response as { response: { content: string } }).response;
  const half = content.indexOf(' ', content.length / 2);
  const pieces = [content.slice(0, half), content.slice(half)].map((text) => ['content', { text }] as const);
  const events = [...pieces, ['done', response] as const];
  return events.map(([event, data]) => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`).join('');
}
