import openapiTS, { astToString, UNDEFINED } from 'openapi-typescript';

/** Generates the types of an OpenAPI document; with `named`, its schemas also under their own names. */
export async function generateTypes(document: object, { named = false } = {}): Promise<string> {
  const types = await openapiTS(document as never, {
    defaultNonNullable: false,
    rootTypes: named,
    rootTypesNoSchemaPrefix: named,
    // A field that is never present.
    transform: (schema) => ('not' in schema ? UNDEFINED : undefined),
  });
  return astToString(types);
}
