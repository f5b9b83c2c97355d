import type { FastifyInstance, FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify';
import type { Context } from '../../../context.ts';
import { invalidField } from '../../../errors.ts';
import { afterCommit, inTransaction } from '../../../transaction.ts';
import { wantsEvents } from '../event-stream.ts';
import { openAnswer, releaseClaim, requestInProgress, storeAnswer } from './answers.ts';
import { type Claim, claimKey } from './claim.ts';
import { buildFingerprint } from './fingerprint.ts';
import { assertValidKey, findClaimRequest, IDEMPOTENCY_HEADER, takesKey } from './key.ts';

interface IdempotentRequest {
  claim: Claim;
  fingerprint: string;
  /** The serialized body, once it is committed. */
  stored: string | null;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** For a request with an `Idempotency-Key`. */
    idempotencyClaim: Claim | null;
    idempotent: IdempotentRequest | null;
  }
}

const JSON_TYPE = 'application/json; charset=utf-8';

/** For the routes registered later. */
export function registerIdempotency(app: FastifyInstance): void {
  app.decorateRequest('idempotencyClaim', null);
  app.decorateRequest('idempotent', null);
  app.addHook('onRoute', (route) => {
    if (!takesKey(route)) return;
    route.config = { ...route.config, idempotency: route.config?.idempotency ?? true };
    const handle = route.handler;
    route.handler = function (request, reply) {
      const run = () => handle.call(this, request, reply);
      return request.idempotent ? answerOnce(request, reply, request.idempotent, run) : run();
    };
  });
  app.addHook('preParsing', async (request) => {
    const { idempotency } = request.routeOptions.config;
    if (idempotency) assertTakesKey(request, typeof idempotency === 'object' && idempotency.streams === true);
  });
  app.addHook('preValidation', async (request, reply) => {
    const asked = findClaimRequest(request);
    if (!asked) return;
    request.idempotencyClaim = await claimKey(request.ctx, request.caller.id, asked);
    if (begin(request, reply, request.idempotencyClaim)) return reply;
  });
  app.addHook('onSend', (request, _reply, _payload, done) => {
    const claim = request.idempotencyClaim;
    if (claim?.state !== 'claimed' || (request.idempotent?.stored ?? null) !== null) return done();
    releaseClaim(request.ctx, claim)
      // Its lease ends it.
      .catch((error) => request.log.error({ err: error }, 'releasing an Idempotency-Key failed'))
      .then(() => done());
  });
}

/** Returns whether the answer of an earlier request was sent. Throws 409 while it runs, and 422 for another body. */
function begin(request: FastifyRequest, reply: FastifyReply, claim: Claim): boolean {
  if (claim.state === 'running') throw requestInProgress();
  const fingerprint = buildFingerprint(request.body);
  if (claim.state === 'claimed') {
    request.idempotent = { claim, fingerprint, stored: null };
    return false;
  }
  const { status, location, body } = openAnswer(request.ctx, claim, claim.state, fingerprint);
  if (location !== null) reply.header('location', location);
  reply.code(status).header('idempotent-replayed', 'true').type(JSON_TYPE).send(body);
  return true;
}

function assertTakesKey(request: FastifyRequest, streams: boolean): void {
  if (request.headers[IDEMPOTENCY_HEADER] === undefined) return;
  assertValidKey(request);
  if (streams && wantsEvents(request.headers.accept)) {
    throw invalidField(IDEMPOTENCY_HEADER, 'is not taken for a stream: ask for JSON, or leave it out');
  }
}

/** Runs a handler with its claim: the change and the answer are committed together, or neither is. */
async function answerOnce(
  request: FastifyRequest,
  reply: FastifyReply,
  idempotent: IdempotentRequest,
  handle: () => ReturnType<RouteHandlerMethod>,
): Promise<unknown> {
  const { idempotency } = request.routeOptions.config;
  if (typeof idempotency === 'object') {
    const body = await handle();
    if (reply.sent || reply.statusCode >= 300) return body;
    if (idempotent.stored === null) {
      // The work is done, and its answer is worth more than the error.
      await createAnswerStore(request, reply)(request.ctx, body).catch((error) =>
        request.log.error({ err: error }, 'storing the answer of an Idempotency-Key failed'),
      );
      return body;
    }
  } else {
    await inTransaction(request.ctx, async (tx) => {
      request.transaction = tx;
      try {
        await createAnswerStore(request, reply)(tx, await handle());
      } finally {
        request.transaction = null;
      }
    }).catch((error: unknown) => {
      reply.removeHeader('location');
      throw error;
    });
  }
  reply.type(JSON_TYPE);
  return idempotent.stored;
}

/**
 * For handlers with transactions of their own: the function stores the answer in the transaction of the change, and does
 * nothing for a request without a key.
 */
export function createAnswerStore(
  request: FastifyRequest,
  reply: FastifyReply,
): (tx: Context, body: unknown) => Promise<void> {
  return async (tx, body) => {
    const { idempotent } = request;
    if (!idempotent) return;
    const text = serialize(reply, body);
    const location = reply.getHeader('location');
    const isStored = await storeAnswer(tx, idempotent.claim, {
      fingerprint: idempotent.fingerprint,
      status: reply.statusCode,
      location: typeof location === 'string' ? location : null,
      body: text,
    });
    // What an external service has done cannot be rolled back.
    const { idempotency } = request.routeOptions.config;
    const isExternal = typeof idempotency === 'object' && idempotency.leaseMs !== undefined;
    if (!isStored && !isExternal) throw requestInProgress();
    afterCommit(tx, () => {
      idempotent.stored = text;
    });
  };
}

/** By the schema of the response, as Fastify would after the commit. */
function serialize(reply: FastifyReply, body: unknown): string {
  if (typeof body !== 'object' || body === null || body === reply) {
    throw new Error(`${reply.routeOptions.url} has to return its body, so that it can be stored before it is sent.`);
  }
  const { statusCode } = reply;
  const bySchema =
    reply.getSerializationFunction(String(statusCode), 'application/json') ??
    reply.getSerializationFunction(String(statusCode));
  return bySchema ? bySchema(body as Record<string, unknown>) : JSON.stringify(body);
}
