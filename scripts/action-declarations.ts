import { generateTypes } from '../packages/client/generate/generate-types.ts';
import { ACTION_DATA, ACTION_INPUTS, ACTION_RECORDS, ActionError } from '../packages/contract/src/actions/index.ts';

const HEADER =
  '// Written by `pnpm docs:generate` from packages/contract/src/actions: change these. Clients need no other package.\n';

/** The types of inputs and results of server actions, without references to other packages. */
export async function buildActionDeclarations(): Promise<string> {
  const named = new Map<unknown, string>(Object.entries(ACTION_RECORDS).map(([name, schema]) => [schema, name]));
  const schemas = {
    ActionInputs: { type: 'object', properties: ACTION_INPUTS, required: Object.keys(ACTION_INPUTS) },
    ActionResults: { type: 'object', properties: ACTION_DATA, required: Object.keys(ACTION_DATA) },
    ActionError,
  };
  // A copy without the symbols of TypeBox.
  const text = JSON.stringify(schemas, (_key, value) => {
    const name = named.get(value);
    return name === undefined ? value : { $ref: `#/components/schemas/${name}` };
  });
  const document = {
    openapi: '3.1.0',
    info: { title: 'Actions', version: '1' },
    components: { schemas: { ...ACTION_RECORDS, ...JSON.parse(text) } },
  };
  return HEADER + (await generateTypes(document, { named: true }));
}
