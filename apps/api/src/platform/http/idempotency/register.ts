import { createHash } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteHandlerMethod, RouteOptions } from 'fastify';
import type { Context } from '../../../context.ts';
import { invalidField } from '../../../errors.ts';
import { afterCommit, inTransaction } from '../../../transaction.ts';
import { countHeader } from '../credentials.ts';
import { wantsEvents } from '../event-stream.ts';
import { createKeyLockRequest, type KeyLock, type KeyLockRequest, lockKey } from './key-lock.ts';
import { buildFingerprint, decryptResponse, releaseKey, requestInProgress, storeResponse } from './stored-responses.ts';

interface IdempotentRequest {
  lock: KeyLock;
  fingerprint: string;
  /** The serialized body, once it is committed. */
  stored: string | null;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** For a request with an `Idempotency-Key`. */
    keyLock: KeyLock | null;
    idempotent: IdempotentRequest | null;
  }
}

const JSON_TYPE = 'application/json; charset=utf-8';

/** For the routes registered later. */
export function registerIdempotency(app: FastifyInstance): void {
  app.decorateRequest('keyLock', null);
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
    const asked = findKeyLockRequest(request);
    if (!asked) return;
    request.keyLock = await lockKey(request.ctx, request.caller.id, asked);
    if (begin(request, reply, request.keyLock)) return reply;
  });
  app.addHook('onSend', (request, _reply, _payload, done) => {
    const lock = request.keyLock;
    if (lock?.state !== 'locked' || (request.idempotent?.stored ?? null) !== null) return done();
    releaseKey(request.ctx, lock)
      // Its lease ends it.
      .catch((error) => request.log.error({ err: error }, 'releasing an Idempotency-Key failed'))
      .then(() => done());
  });
}

/** Returns whether the answer of an earlier request was sent. Throws 409 while it runs, and 422 for another body. */
function begin(request: FastifyRequest, reply: FastifyReply, lock: KeyLock): boolean {
  if (lock.state === 'running') throw requestInProgress();
  const fingerprint = buildFingerprint(request.body);
  if (lock.state === 'locked') {
    request.idempotent = { lock, fingerprint, stored: null };
    return false;
  }
  const { status, location, body } = decryptResponse(request.ctx, lock, lock.state, fingerprint);
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

/** Runs a handler with its lock: the change and the answer are committed together, or neither is. */
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
      await createResponseStore(request, reply)(request.ctx, body).catch((error) =>
        request.log.error({ err: error }, 'storing the answer of an Idempotency-Key failed'),
      );
      return body;
    }
  } else {
    await inTransaction(request.ctx, async (tx) => {
      request.transaction = tx;
      try {
        await createResponseStore(request, reply)(tx, await handle());
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
 * For handlers that open their transactions: the function stores the answer in the transaction of the change, and does
 * nothing for a request without a key.
 */
export function createResponseStore(
  request: FastifyRequest,
  reply: FastifyReply,
): (tx: Context, body: unknown) => Promise<void> {
  return async (tx, body) => {
    const { idempotent } = request;
    if (!idempotent) return;
    const text = serialize(reply, body);
    const location = reply.getHeader('location');
    const isStored = await storeResponse(tx, idempotent.lock, {
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

const IDEMPOTENCY_HEADER = 'idempotency-key';

/** How a route repeats the answer to an `Idempotency-Key`. By default its handler runs in one transaction. */
export interface Idempotency {
  /** The handler opens its transactions and stores its answer by `createResponseStore`: else it is stored afterwards. */
  transactions: 'own';
  /** How long a handler that calls external services may take. */
  leaseMs?: number;
  /** The route may answer with a stream, which cannot be repeated: 400. */
  streams?: boolean;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * False for a POST that ignores `Idempotency-Key`, `reads` for one that changes nothing: it takes the header and keeps no
     * answer. Unset for other methods and for routes without a user.
     */
    idempotency?: Idempotency | boolean | 'reads';
  }
}

/** Every POST of a user takes a key, unless its route says otherwise. */
export const takesKey = ({ method, config }: Pick<RouteOptions, 'method' | 'config'>): boolean =>
  [method].flat().includes('POST') &&
  (config?.access === 'user' || config?.access === 'admin') &&
  config.idempotency !== false;

/** Returns null for a request without a valid key. */
function findKeyLockRequest(request: FastifyRequest): KeyLockRequest | null {
  const { idempotency } = request.routeOptions.config;
  const key = idempotency && idempotency !== 'reads' ? request.headers[IDEMPOTENCY_HEADER] : undefined;
  if (typeof key !== 'string' || !isValidKey(request, key)) return null;
  const { method, routeOptions, params } = request;
  const scope = createHash('sha256')
    .update(JSON.stringify([method, routeOptions.url, params, key]))
    .digest('hex');
  return createKeyLockRequest(scope, (typeof idempotency === 'object' && idempotency.leaseMs) || null);
}

/** Throws 400. */
function assertValidKey(request: FastifyRequest): void {
  const key = request.headers[IDEMPOTENCY_HEADER];
  if (key === undefined || isValidKey(request, String(key))) return;
  throw invalidField(IDEMPOTENCY_HEADER, 'must be one header of 1 to 255 visible ASCII characters');
}

/** Node joins several headers to one, with a comma. */
const isValidKey = (request: FastifyRequest, key: string) =>
  /^[\x21-\x7e]{1,255}$/.test(key) && countHeader(request, IDEMPOTENCY_HEADER) === 1;
