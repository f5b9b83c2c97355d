import * as contract from '@carillon/contract/agent';
import * as questions from '@carillon/contract/questions';
import type { FastifyPluginAsync, FastifyReply, FastifyRequest, RawServerDefault } from 'fastify';
import type { Context } from '../../context.ts';
import { abortOnHangUp, streamAnswer, wantsEvents } from '../../platform/http/event-stream.ts';
import { createResponseStore } from '../../platform/http/idempotency/register.ts';
import { LARGE_BODY_LIMIT } from '../../platform/http/server.ts';
import { type ContractTypes, success } from '../../platform/http/validation.ts';
import { type AgentAnswer, type AnswerOptions, processMessage } from './process.ts';
import { confirmTask } from './proposals/confirm.ts';
import { askAboutRun, type RunAnswer } from './questions/ask.ts';
import { listQuestions } from './questions/read.ts';

interface Options {
  ctx: Context;
  keepAliveMs?: number;
  /** Less than the 20 s after which a shutdown closes connections. */
  graceMs?: number;
}

/** Beyond the longest call: for its transactions. */
const CLAIM_MARGIN_MS = 30_000;

export const agentRoutes: FastifyPluginAsync<Options, RawServerDefault, ContractTypes> = async (
  app,
  { ctx: { config }, keepAliveMs = 15_000, graceMs = 15_000 },
) => {
  const leaseMs = config.ai.timeoutMs + CLAIM_MARGIN_MS;
  const idempotency = { transactions: 'own', leaseMs, streams: true } as const;
  const running = new Map<AbortController, Promise<unknown>>();
  const abortAll = () => {
    for (const abort of running.keys()) abort.abort();
  };
  let stopping: NodeJS.Timeout | undefined;
  app.addHook('preClose', async () => {
    stopping = setTimeout(abortAll, graceMs);
  });
  // A call whose client has disconnected still has to record its usage.
  app.addHook('onClose', async () => {
    clearTimeout(stopping);
    abortAll();
    await Promise.allSettled(running.values());
  });

  /** Answers as JSON or as a stream, whichever the request prefers. */
  async function answer<A extends object>(
    request: FastifyRequest,
    reply: FastifyReply,
    ask: (options: AnswerOptions & { store: (tx: Context, answer: A) => Promise<void> }) => Promise<A>,
  ) {
    const abort = abortOnHangUp(reply);
    const process = async (onContent?: (text: string) => void) => {
      const store = createResponseStore(request, reply);
      const call = ask({
        signal: abort.signal,
        ...(onContent && { onContent }),
        store: (tx, answered) => store(tx, { success, ...answered }),
      });
      running.set(abort, call);
      try {
        return { success, ...(await call) };
      } finally {
        running.delete(abort);
      }
    };
    if (!wantsEvents(request.headers.accept)) return process();
    return streamAnswer(request, reply, { keepAliveMs }, process);
  }

  app.post(
    '/api/agent/process',
    { schema: contract.processMessage, config: { access: 'user', scope: 'agent:run', idempotency } },
    (request, reply) => {
      const { ctx, caller, query, body } = request;
      return answer<AgentAnswer>(request, reply, (options) =>
        processMessage(ctx, caller, body, { ...options, proposes: query.propose === true }),
      );
    },
  );

  app.post(
    '/api/executions/:id/ask',
    {
      schema: questions.askExecution,
      config: { access: 'user', scope: 'agent:run', alsoScope: 'executions:read', idempotency },
    },
    (request, reply) => {
      const { ctx, caller, params, body } = request;
      return answer<RunAnswer>(request, reply, (options) => askAboutRun(ctx, caller, params.id, body, options));
    },
  );

  app.get(
    '/api/executions/:id/questions',
    { schema: questions.listQuestions, config: { access: 'user', scope: 'executions:read' } },
    async ({ ctx, caller, params, query }) => ({
      success,
      ...(await listQuestions(ctx, caller, params.id, query)),
    }),
  );

  app.post(
    '/api/agent/confirm-task',
    { schema: contract.confirmTask, config: { access: 'user', scope: 'tasks:write' }, bodyLimit: LARGE_BODY_LIMIT },
    async ({ ctx, caller, body }, reply) => {
      const taskId = await confirmTask(ctx, caller, body);
      reply.code(201).header('location', `/api/tasks/${taskId}`);
      return { success, taskId };
    },
  );
};
