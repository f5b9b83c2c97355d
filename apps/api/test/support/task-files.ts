import type { FastifyInstance } from 'fastify';
import { TASK } from './tasks.ts';

interface Caller {
  headers: Record<string, string>;
}

export const YAML = 'application/yaml';
export const JSONL = 'application/jsonl';

/** A line of JSONL from `TASK`. */
export const line = (externalId: string, given: object = {}) => JSON.stringify({ externalId, ...TASK, ...given });

export const importFile = (
  app: FastifyInstance,
  { headers }: Caller,
  payload: string,
  { type = payload.startsWith('{') ? JSONL : YAML, query = '' } = {},
) =>
  app.inject({
    method: 'POST',
    url: `/api/user/import${query}`,
    headers: { ...headers, 'content-type': type },
    payload,
  });

export async function exportFile(app: FastifyInstance, { headers }: Caller, accept?: string): Promise<string> {
  const answer = await app.inject({ url: '/api/user/tasks', headers: { ...headers, ...(accept && { accept }) } });
  if (answer.statusCode !== 200) throw new Error(answer.body);
  return answer.body;
}
