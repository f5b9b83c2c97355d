import { findUnsafeValue } from '@carillon/contract';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { missingScope } from '../../errors.ts';
import { handleError } from '../../platform/http/error-handler.ts';
import type { Routes } from '../../platform/http/validation.ts';
import {
  buildScopeChallenge,
  describeProtectedResource,
  METADATA_PATH,
} from '../../product/auth/keys/protected-resource.ts';

const HIDDEN = { hide: true };

/** Loaded with the first request: the library of the protocol takes a tenth of a second. */
const loadServer = () => import('./server.ts');

export const mcpRoutes: Routes = async (app, { ctx }) => {
  let opening: ReturnType<typeof open> | undefined;
  const open = async () => {
    const { createHandler, findMissingScopes, serveRequest } = await loadServer();
    return { handler: createHandler(ctx), findMissingScopes, serveRequest };
  };
  app.addHook('onClose', async () => (await opening)?.handler.close());
  app.setErrorHandler(answerError);

  app.post('/mcp', { config: { access: 'key' }, schema: HIDDEN }, async (request, reply) => {
    const { caller, body, signal } = request;
    const ctx = { ...request.ctx, via: 'mcp' as const };
    const problem = findProblem(body);
    if (problem) return answer(reply, 400, problem.code, problem.message, problem.id);
    opening ??= open();
    const { handler, findMissingScopes, serveRequest } = await opening;
    // Programs ask their user for more after a 403, and keys have the same as the error of a tool.
    const missing = caller.apiKey?.isApp ? findMissingScopes(caller, body as Record<string, unknown>) : [];
    if (missing.length > 0) {
      reply.header('www-authenticate', buildScopeChallenge(ctx.config, missing));
      throw missingScope(missing.join(' '));
    }
    const onToolCall = (tool: string, outcome: string) => {
      request.logFields = { tool, outcome };
      request.span?.set({ 'carillon.tool': tool, 'carillon.outcome': outcome });
    };
    const message = withoutNull(body);
    const response = await serveRequest(handler, toWebRequest(request), message, { ctx, caller, signal, onToolCall });
    return sendWebResponse(reply, takesEvents(request) ? response : await toJsonResponse(response));
  });
  // Clients of 2025 ask for a stream of notifications and end sessions. There are neither.
  app.route({
    method: ['GET', 'DELETE'],
    url: '/mcp',
    config: { access: 'public' },
    schema: HIDDEN,
    handler: async (_request, reply) =>
      answer(reply.header('allow', 'POST'), 405, INVALID_REQUEST, 'Send requests with POST.'),
  });
  for (const url of [METADATA_PATH, `${METADATA_PATH}/mcp`]) {
    app.get(url, { config: { access: 'public' }, schema: HIDDEN }, async () => describeProtectedResource(ctx.config));
  }
};

/** Of JSON-RPC. */
const PARSE_ERROR = -32_700;
const INVALID_REQUEST = -32_600;
const INVALID_PARAMS = -32_602;

type RequestId = string | number | null;

const answer = (reply: FastifyReply, status: number, code: number, message: string, id: RequestId = null) =>
  reply.code(status).send({ jsonrpc: '2.0', error: { code, message }, id });

/** Errors of the body in the form of the protocol, which its clients read, and others as in the API. */
const BODY_ERRORS: Record<string, [status: number, code: number, message: string]> = {
  FST_ERR_CTP_INVALID_JSON_BODY: [400, PARSE_ERROR, 'The body is not valid JSON.'],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: [415, INVALID_REQUEST, 'Send the body as application/json.'],
  FST_ERR_CTP_BODY_TOO_LARGE: [413, INVALID_REQUEST, 'The body is larger than 1 MiB.'],
};

function answerError(error: FastifyError, request: FastifyRequest, reply: FastifyReply) {
  const known = BODY_ERRORS[error.code];
  return known ? answer(reply, ...known) : handleError(error, request, reply);
}

/**
 * What the library does not refuse: batches, which the protocol had for a few months and which would count as one
 * request, and values that are too deep or large outside of the arguments, which each tool checks.
 */
function findProblem(body: unknown): { code: number; message: string; id: RequestId } | null {
  if (body === undefined) return { code: PARSE_ERROR, message: 'The body is empty.', id: null };
  if (!isObject(body)) return { code: INVALID_REQUEST, message: 'Send one JSON-RPC message, not a batch.', id: null };
  const { params, id } = body;
  const checked = isObject(params) ? { ...body, params: { ...params, arguments: null } } : body;
  const unsafe = findUnsafeValue(checked);
  if (!unsafe) return null;
  const known = typeof id === 'string' || typeof id === 'number' ? id : null;
  return { code: INVALID_PARAMS, message: `${unsafe.field || 'The message'} ${unsafe.message}.`, id: known };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Null stands for arguments that are left out. */
function withoutNull(body: unknown): unknown {
  if (!isObject(body) || !isObject(body.params) || body.params.arguments !== null) return body;
  const { arguments: _absent, ...params } = body.params;
  return { ...body, params };
}

/** The library wants both types, and the clients without it name one. */
const EITHER_TYPE = 'application/json, text/event-stream';

function toWebRequest(request: FastifyRequest): Request {
  const { method, url, headers } = request;
  const accept = takesEvents(request) || takesJson(request) ? { accept: EITHER_TYPE } : {};
  const given = Object.entries({ ...headers, ...accept }).flatMap(([name, value]): [string, string][] =>
    typeof value === 'string' ? [[name, value]] : [],
  );
  return new Request(new URL(url, 'http://localhost'), { method, headers: given });
}

const takesEvents = ({ headers: { accept = '' } }: FastifyRequest) => /text\/(event-stream|\*)/i.test(accept);

const takesJson = ({ headers: { accept } }: FastifyRequest) => !accept || /application\/(json|\*)|\*\/\*/i.test(accept);

/** The message of a stream of events, of which the server sends one. */
async function toJsonResponse(response: Response): Promise<Response> {
  const { status, headers } = response;
  if (!headers.get('content-type')?.startsWith('text/event-stream')) return response;
  const events = await response.text();
  const data = events.split('\n').findLast((line) => line.startsWith('data: '));
  return new Response(data?.slice('data: '.length), { status, headers: { 'content-type': 'application/json' } });
}

/** Leaves out headers of the connection and of caches, which are those of all routes. */
async function sendWebResponse(reply: FastifyReply, { status, headers, body }: Response) {
  reply.code(status);
  for (const name of ['content-type', 'allow', 'x-accel-buffering']) {
    const value = headers.get(name);
    if (value !== null) reply.header(name, value);
  }
  return reply.send(body ?? undefined);
}
