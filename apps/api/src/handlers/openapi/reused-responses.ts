import { STATUS_CODES } from 'node:http';
import { addComponents, type Document, listEndpoints, type Response } from './document.ts';

/**
 * Moves the most frequent response of each error status to the components, because most operations have the same one.
 * Half of the document would repeat them.
 */
export function reuseErrorResponses(document: Document): void {
  for (const [status, responses] of groupErrorResponses(document)) {
    const [mostFrequent = []] = [...responses.values()].sort((a, b) => b.length - a.length);
    const [first] = mostFrequent;
    if (!first || mostFrequent.length < 2) continue;
    const name = (STATUS_CODES[status] ?? '').replaceAll(' ', '');
    addComponents(document, 'responses', { [name]: first[status] as Response });
    for (const operation of mostFrequent) operation[status] = { $ref: `#/components/responses/${name}` };
  }
}

type Responses = Record<string, Response | { $ref: string }>;

/** By status, the `responses` of the operations that have the same response. */
function groupErrorResponses(document: Document): Map<string, Map<string, Responses[]>> {
  const groups = new Map<string, Map<string, Responses[]>>();
  for (const { operation } of listEndpoints(document)) {
    const responses: Responses = operation.responses ?? {};
    for (const [status, response] of Object.entries(responses)) {
      if (Number(status) < 400) continue;
      const same = groups.get(status) ?? new Map<string, Responses[]>();
      const text = JSON.stringify(response);
      groups.set(status, same.set(text, [...(same.get(text) ?? []), responses]));
    }
  }
  return groups;
}
