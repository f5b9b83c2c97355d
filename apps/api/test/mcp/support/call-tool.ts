import { compileValidator } from '@carillon/contract';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { FastifyInstance } from 'fastify';
import { TOOLS } from '../../../src/handlers/mcp/tools/index.ts';

interface Listed {
  name: string;
  inputSchema: Record<string, unknown>;
  outputSchema: Record<string, unknown>;
  annotations: Record<string, unknown>;
}

interface Owner {
  headers: { authorization: string };
}

async function post(app: FastifyInstance, { headers }: Owner, method: string, params: object) {
  const answer = await app.inject({
    method: 'POST',
    url: '/mcp',
    headers: { ...headers, accept: 'application/json, text/event-stream' },
    payload: { jsonrpc: '2.0', id: 1, method, params },
  });
  // U+2028 ends no line of an event stream.
  const event = answer.body.split('\n').find((line) => line.startsWith('data: '));
  const { result } = JSON.parse(event?.slice('data: '.length) ?? answer.body);
  if (!result) throw new Error(answer.body);
  return result;
}

export const listTools = async (app: FastifyInstance, key: Owner): Promise<Listed[]> =>
  (await post(app, key, 'tools/list', {})).tools;

/** As strict as a client can be. */
export const compileStrictly = (schema: object): ValidateFunction => new Ajv2020({ strict: true }).compile(schema);

const checks = new Map<string, ValidateFunction>();

async function findCheck(app: FastifyInstance, key: Owner, name: string): Promise<ValidateFunction> {
  if (checks.size === 0) {
    for (const tool of await listTools(app, key)) checks.set(tool.name, compileStrictly(tool.outputSchema));
  }
  const check = checks.get(name);
  if (!check) throw new Error(`${name} is not one of the ${TOOLS.length} tools.`);
  return check;
}

const wholes = new Map(TOOLS.map(({ name, output }) => [name, compileValidator(output, 'answer')]));

/** Also checks formats, and the words that clients do not know. */
function findWhole(name: string) {
  const validate = wholes.get(name);
  if (!validate) throw new Error(name);
  return validate;
}

/** What the tool says, and `data` of a success, which is checked against the schema of the tool. */
export async function callTool(app: FastifyInstance, key: Owner, name: string, given: object = {}) {
  const {
    content,
    structuredContent: data,
    isError = false,
  } = await post(app, key, 'tools/call', {
    name,
    arguments: given,
  });
  const check = await findCheck(app, key, name);
  if (!isError && !check(data)) throw new Error(`${name}: ${JSON.stringify(check.errors)}`);
  const whole = isError || findWhole(name)(data);
  if (whole !== true && !whole.ok) throw new Error(`${name}: ${JSON.stringify(whole.details)}`);
  // biome-ignore lint/suspicious/noExplicitAny: the answers of all tools, compared as a whole
  return { text: content[0].text as string, data: data as any, isError };
}
