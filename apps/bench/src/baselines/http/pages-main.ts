import type { AddressInfo } from 'node:net';
import { Execution } from '@carillon/contract/executions';
import { Task } from '@carillon/contract/tasks';
import Fastify from 'fastify';
import { openDatabase, printReady, type Row } from './server.ts';
import { EXECUTION_PAGE, TASK_PAGE } from './statements.ts';

// No session and no total.
const query = await openDatabase();
const app = Fastify();
for (const schema of [Task, Execution]) app.addSchema(schema);

interface PageQuery {
  user: string;
  before: string;
  limit: string;
}
const toValues = ({ user, before, limit }: PageQuery) => [Number(user), Number(before), Number(limit)];

const listOf = (name: string, { $id }: { $id?: string }) => ({
  schema: {
    response: { 200: { type: 'object', properties: { [name]: { type: 'array', items: { $ref: `${$id}#` } } } } },
  },
});

app.get<{ Querystring: PageQuery }>('/tasks', listOf('tasks', Task), async (request) => ({
  tasks: await query<Row>(TASK_PAGE, toValues(request.query)),
}));

app.get<{ Querystring: PageQuery }>('/executions', listOf('executions', Execution), async (request) => {
  const rows = await query<Row>(EXECUTION_PAGE, toValues(request.query));
  return { executions: rows.map(toExecution) };
});

function toExecution({ inputTokens: input, outputTokens: output, tokensEstimated: estimated, ...row }: Row) {
  const total = Number(input) + Number(output);
  const tokens = input === null || output === null ? null : { input, output, total, estimated };
  return { ...row, citations: row.citations ?? [], tokensUsed: tokens?.total ?? null, tokens };
}

await app.listen({ host: '127.0.0.1', port: 0 });
printReady((app.server.address() as AddressInfo).port);
