import { generateTypes } from '../packages/client/generate/generate-types.ts';
import { ACTION_DATA, ACTION_INPUTS, ActionError } from '../packages/contract/src/actions/index.ts';

const HEADER =
  '// Written by `pnpm docs:generate` from packages/contract/src/actions: change these. Clients need no other package.\n';

/** The types of inputs and results of server actions, without references to other packages. */
export async function buildActionDeclarations(): Promise<string> {
  const schemas = {
    ActionInputs: { type: 'object', properties: ACTION_INPUTS, required: Object.keys(ACTION_INPUTS) },
    ActionResults: { type: 'object', properties: ACTION_DATA, required: Object.keys(ACTION_DATA) },
    ActionError,
  };
  const document = { openapi: '3.1.0', info: { title: 'Actions', version: '1' }, components: { schemas } };
  // As a copy without the symbols of TypeBox.
  return HEADER + (await generateTypes(JSON.parse(JSON.stringify(document)), { named: true }));
}
