import type { FastifyRequest } from 'fastify';
import type { Routes } from '../http/validation.ts';

/** Loaded with the first request: the protocol library takes a tenth of a second. */
const loadServer = () => import('./server.ts');

export const mcpRoutes: Routes = async (app) => {
  app.post('/mcp', { config: { access: 'key' }, schema: { hide: true } }, async (request, reply) => {
    const { ctx, caller, body } = request;
    const { createHandler } = await loadServer();
    const handler = createHandler({ ctx, caller, client: null, tool: '', signal: request.signal });
    return reply.send(await handler.fetch(toWebRequest(request), { parsedBody: body }));
  });
  // Clients of 2025 ask for a stream of notifications and end sessions. There are neither.
  app.route({
    method: ['GET', 'DELETE'],
    url: '/mcp',
    config: { access: 'public' },
    schema: { hide: true },
    handler: async (_request, reply) => reply.code(405).header('allow', 'POST').send(),
  });
};

function toWebRequest({ method, url, headers }: FastifyRequest): Request {
  const given = Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    typeof value === 'string' ? [[name, value]] : [],
  );
  return new Request(new URL(url, 'http://localhost'), { method, headers: given });
}
