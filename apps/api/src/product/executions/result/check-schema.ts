import { locateError } from '@carillon/contract/validation/unsafe-values';
import { findUnsafeValue } from '@carillon/contract/validation/validator';
import type { OutputSchema } from '@carillon/db';
import { compileSchema } from '@carillon/json-schema/compile';
import { SchemaError } from '@carillon/json-schema/schema-node';
import { invalidField } from '../../../errors.ts';

const MAX_BYTES = 16 * 1024;
const FIELD = 'outputSchema';

/** Returns the schema. Throws 400 at the place that is wrong. */
export function checkOutputSchema(schema: OutputSchema): OutputSchema {
  if (Buffer.byteLength(JSON.stringify(schema)) > MAX_BYTES) {
    throw invalidField(FIELD, 'must have at most 16 KiB as JSON');
  }
  const unsafe = findUnsafeValue(schema);
  if (unsafe) throw invalidField([FIELD, unsafe.field].filter(Boolean).join('.'), unsafe.message);
  if (schema.type !== 'object') throw invalidField(`${FIELD}.type`, 'must be "object": results are objects');
  try {
    compileSchema(schema, FIELD);
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error;
    const { field, message } = locateError({ [FIELD]: schema }, error.field.split('.'), error.message);
    throw invalidField(field, message);
  }
  return schema;
}
