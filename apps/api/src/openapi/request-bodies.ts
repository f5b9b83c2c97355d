import { compileQueryValidator, compileValidator, type Operation } from '@carillon/contract';
import { type Document, operationsOf } from './document.ts';

/** The messages that a request without anything good in it gets; null where an operation has nothing to be held to. */
export function invalidDetails(operation: Operation | undefined): Record<string, string[]> | null {
  const { body, querystring, consumes } = operation ?? {};
  // The schema of a form is for readers; it is held to its rules as it comes.
  if (body && !consumes) return find(compileValidator(body), [{}, { colour: 'red' }]);
  return querystring ? find(compileQueryValidator(querystring), [{}, { limit: '0' }]) : null;
}

function find(check: ReturnType<typeof compileValidator>, bad: unknown[]): Record<string, string[]> | null {
  for (const value of bad) {
    const checked = check(value);
    if (!checked.ok) return checked.details;
  }
  return null;
}

/** A body that may be null may be left out; the plugin holds every body to be required. */
export function leaveOutBodies(document: Document): void {
  for (const { operation } of operationsOf(document)) {
    const { requestBody } = operation;
    const [media] = Object.values(requestBody?.content ?? {});
    if (requestBody && [media?.schema?.type].flat().includes('null')) requestBody.required = false;
  }
}
