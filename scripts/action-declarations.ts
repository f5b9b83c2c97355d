import { compile, type JSONSchema } from 'json-schema-to-typescript';
import { ACTION_DATA, ACTION_INPUTS, ActionError } from '../packages/contract/src/actions/index.ts';

const HEADER =
  '// Written by `pnpm docs:generate` from packages/contract/src/actions: change these. Clients need no other package.\n';

/** Writes a field that is never present, and a record, in the words of the generator. */
function adapt(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if ('not' in value) return { tsType: 'undefined' };
  if (!('patternProperties' in value)) return value;
  const { patternProperties, ...rest } = value as { patternProperties: object };
  return { ...rest, additionalProperties: Object.values(patternProperties)[0] };
}

/** The types of inputs and results of server actions, without references to other packages. */
export async function buildActionDeclarations(): Promise<string> {
  const schemas = {
    ActionInputs: { type: 'object', properties: ACTION_INPUTS, required: Object.keys(ACTION_INPUTS) },
    ActionResults: { type: 'object', properties: ACTION_DATA, required: Object.keys(ACTION_DATA) },
    ActionError,
  };
  const parts = Object.entries(schemas).map(([name, schema]) =>
    // Without the symbols of TypeBox, and as a copy, because the generator changes its input.
    compile(JSON.parse(JSON.stringify(schema, adapt)) as JSONSchema, name, {
      additionalProperties: false,
      bannerComment: '',
      // As tuples, lists of at most ten would have eleven types.
      ignoreMinAndMaxItems: true,
      style: { singleQuote: true, printWidth: 120 },
    }),
  );
  return [HEADER, ...(await Promise.all(parts))].join('\n');
}
