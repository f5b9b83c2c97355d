import { Readable } from 'node:stream';
import * as contract from '@carillon/contract/tasks/files';
import type { FastifyRequest } from 'fastify';
import { prefersType } from '../../../platform/http/accept.ts';
import { createResponseStore } from '../../../platform/http/idempotency/register.ts';
import { type Routes, success } from '../../../platform/http/validation.ts';
import { exportTasks } from './export.ts';
import { FileProblem, invalidFile, toFileError } from './file-problem.ts';
import { importTasks } from './import.ts';
import { buildFileSchema } from './schema.ts';

const { yaml: YAML, jsonl: JSONL } = contract.FILE_TYPES;

export const taskFilesRoutes: Routes = async (app, { ctx: { config } }) => {
  app.removeAllContentTypeParsers();
  const types = Object.values(contract.FILE_TYPES);
  app.addContentTypeParser(types, { parseAs: 'buffer', bodyLimit: contract.MAX_FILE_BYTES }, readText);

  app.get(
    '/api/user/tasks',
    { schema: contract.exportTasks, config: { access: 'user', scope: 'tasks:read' } },
    async ({ ctx, caller, headers }, reply) => {
      const type = prefersType(headers.accept, JSONL, YAML) ? 'jsonl' : 'yaml';
      const file = Readable.from(await exportTasks(ctx, caller, type));
      reply.header('vary', 'accept').type(`${contract.FILE_TYPES[type]}; charset=utf-8`);
      return reply.send(file as never);
    },
  );

  app.post(
    '/api/user/import',
    {
      schema: contract.importTasks,
      config: { access: 'user', scope: 'tasks:write', idempotency: { transactions: 'own' } },
      bodyLimit: contract.MAX_FILE_BYTES,
    },
    async (request, reply) => {
      const { ctx, caller, query, body, headers } = request;
      const type = headers['content-type']?.startsWith(JSONL) ? 'jsonl' : 'yaml';
      const store = createResponseStore(request, reply);
      const source = { ...query, text: body ?? '', type } as const;
      const result = await importTasks(ctx, caller, {
        ...source,
        onStored: (tx, result) => store(tx, { success, ...result }),
      });
      return { success, ...result };
    },
  );

  const fileSchema = buildFileSchema(config.baseUrl);
  app.get('/schemas/task.json', { schema: contract.getTaskSchema, config: { access: 'public' } }, async (_, reply) => {
    reply.header('cache-control', 'public, max-age=3600').header('access-control-allow-origin', '*');
    return fileSchema;
  });
};

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Without a mark of the byte order. */
async function readText(_request: FastifyRequest, bytes: string | Buffer): Promise<string> {
  let text: string;
  try {
    text = utf8.decode(bytes as Buffer);
  } catch {
    throw invalidFile([toFileError(new FileProblem(1, 'must be UTF-8'))]);
  }
  const nul = text.indexOf('\0');
  if (nul < 0) return text;
  const line = text.slice(0, nul).split('\n').length;
  throw invalidFile([toFileError(new FileProblem(line, 'must not contain the NUL character'))]);
}
