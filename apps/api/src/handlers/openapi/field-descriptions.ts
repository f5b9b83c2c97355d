import { FIELD_DESCRIPTIONS } from '@carillon/contract/field-descriptions';
import { type Document, listEndpoints, type Operation } from './document.ts';

interface Schema {
  $ref?: string;
  description?: string;
  properties?: Record<string, Schema>;
  items?: Schema;
  anyOf?: Schema[];
}

/** Describes each field and parameter that has no description of its own. */
export function describeFields(document: Document): void {
  for (const [name, schema] of Object.entries(document.components?.schemas ?? {})) describeSchema([name], schema);
  for (const { operation } of listEndpoints(document)) describeOperation(operation, 'body');
  for (const { operation } of listEndpoints({ paths: document.webhooks })) describeOperation(operation, 'event');
}

function describeOperation(operation: Operation, root: 'body' | 'event'): void {
  const { operationId = '', parameters = [], requestBody, responses = {} } = operation;
  for (const parameter of parameters) {
    parameter.description ??= findDescription([operationId, parameter.in], parameter.name);
  }
  for (const { schema } of Object.values(requestBody?.content ?? {})) describeSchema([operationId, root], schema);
  for (const { content = {} } of Object.values(responses)) {
    for (const { schema } of Object.values(content)) describeSchema([operationId], schema);
  }
}

function describeSchema(parents: string[], schema: Schema | undefined): void {
  if (!schema) return;
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    const description = field.description ?? findDescription(parents, name);
    if (description !== undefined) field.description = description;
    describeSchema([name], field);
  }
  for (const inner of [schema.items, ...(schema.anyOf ?? [])]) describeSchema(parents, inner);
}

function findDescription(parents: string[], name: string): string | undefined {
  const parent = parents.find((one) => `${one}.${name}` in FIELD_DESCRIPTIONS);
  return FIELD_DESCRIPTIONS[parent === undefined ? name : `${parent}.${name}`];
}
