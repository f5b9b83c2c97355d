import type { OutputSchema } from '@carillon/db';

/** Says in the system message what to answer: providers know only a part of JSON Schema by themselves, or nothing. */
export const describeOutput = (schema: OutputSchema): string =>
  [
    'Answer with one JSON object and nothing else: no Markdown, and no text around it.',
    'The object must match this JSON Schema:',
    JSON.stringify(schema),
  ].join('\n');
