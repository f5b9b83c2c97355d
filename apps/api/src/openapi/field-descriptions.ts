import { FIELD_DESCRIPTIONS } from '@carillon/contract/field-descriptions';
import { type Document, type Operation, operationsOf } from './document.ts';

interface Schema {
  $ref?: string;
  description?: string;
  properties?: Record<string, Schema>;
  items?: Schema;
  anyOf?: Schema[];
}

/** Describes each field and parameter that has no description of its own, by the contract's glossary. */
export function describeFields(document: Document): void {
  for (const [name, schema] of Object.entries(document.components?.schemas ?? {})) describeUnder([name], schema);
  for (const { operation } of operationsOf(document)) describeOperation(operation, 'body');
  for (const { operation } of operationsOf({ paths: document.webhooks })) describeOperation(operation, 'event');
}

function describeOperation(operation: Operation, whole: 'body' | 'event'): void {
  const { operationId = '', parameters = [], requestBody, responses = {} } = operation;
  for (const parameter of parameters) parameter.description ??= meaningOf([operationId, parameter.in], parameter.name);
  for (const { schema } of Object.values(requestBody?.content ?? {})) describeUnder([operationId, whole], schema);
  for (const { content = {} } of Object.values(responses)) {
    for (const { schema } of Object.values(content)) describeUnder([operationId], schema);
  }
}

function describeUnder(parents: string[], schema: Schema | undefined): void {
  if (!schema) return;
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    const meaning = field.description ?? meaningOf(parents, name);
    if (meaning !== undefined) field.description = meaning;
    describeUnder([name], field);
  }
  for (const inner of [schema.items, ...(schema.anyOf ?? [])]) describeUnder(parents, inner);
}

function meaningOf(parents: string[], name: string): string | undefined {
  const nearest = parents.find((parent) => `${parent}.${name}` in FIELD_DESCRIPTIONS);
  return FIELD_DESCRIPTIONS[nearest === undefined ? name : `${nearest}.${name}`];
}
