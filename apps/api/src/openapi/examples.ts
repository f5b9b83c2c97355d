import { EXAMPLES } from '@carillon/contract/examples';
import { type Document, type Operation, operationsOf, type Parameter } from './document.ts';

/** Gives each operation the contract's example of a good request, and of what it answers. */
export function addExamples(document: Document): void {
  for (const { operation } of operationsOf(document)) {
    const example = EXAMPLES[operation.operationId ?? ''];
    if (!example) continue;
    const { params, query, headers, body, response } = example;
    for (const parameter of operation.parameters ?? []) {
      exemplify(parameter, { path: params, query, header: headers }[parameter.in]);
    }
    for (const media of Object.values(operation.requestBody?.content ?? {})) media.example = body;
    for (const [status, answer] of Object.entries(response)) answerWith(operation, status, answer);
  }
}

function exemplify(parameter: Parameter, given: Record<string, unknown> | undefined): void {
  const value = given?.[parameter.name];
  if (value !== undefined) parameter.example = value;
}

/** A stream of events tells the same answer in its own way. */
function answerWith({ responses }: Operation, status: string, answer: unknown): void {
  for (const [type, media] of Object.entries(responses?.[status]?.content ?? {})) {
    media.example = type === 'text/event-stream' ? asEvents(answer) : answer;
  }
}

function asEvents(answer: unknown): string {
  const { content } = (answer as { response: { content: string } }).response;
  const half = content.indexOf(' ', content.length / 2);
  const pieces = [content.slice(0, half), content.slice(half)].map((text) => ['content', { text }] as const);
  const events = [...pieces, ['done', answer] as const];
  return events.map(([event, data]) => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`).join('');
}
