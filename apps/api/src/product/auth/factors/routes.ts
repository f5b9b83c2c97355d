import { randomBytes } from 'node:crypto';
import * as contract from '@carillon/contract/accounts/factors';
import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  findBearer,
  parseBrowserCookie,
  parseSessionCookie,
  serializeBrowserCookie,
  setSessionCookie,
} from '../../../platform/http/credentials.ts';
import { type Routes, success } from '../../../platform/http/validation.ts';
import { getSessionId, SESSION_SECONDS } from '../sessions.ts';
import { createAssertionOptions, createRegistrationOptions } from './passkeys.ts';
import { listFactors } from './read.ts';
import { answerTicket, type SignedIn, signInWithPasskey } from './sign-in.ts';
import { confirmTotp, createPasskey, createRecoveryCodes, createTotp, deleteFactor } from './write.ts';

export const factorRoutes: Routes = async (app) => {
  // Without a scope: no key reads or changes them.
  const config = { access: 'user' } as const;
  const change = { ...config, needsConfirmation: true } as const;

  app.get('/api/user/factors', { schema: contract.listFactors, config }, async ({ ctx, caller }) => ({
    success,
    ...(await listFactors(ctx, caller)),
  }));

  app.post(
    '/api/user/factors/totp',
    { schema: contract.createTotp, config: change },
    async ({ ctx, caller, body }, reply) => {
      const created = await createTotp(ctx, caller, body);
      reply.code(201);
      return { success, ...created };
    },
  );

  app.post(
    '/api/user/factors/:id/confirm',
    { schema: contract.confirmTotp, config: change },
    async ({ ctx, caller, params, body }) => ({
      success,
      ...(await confirmTotp(ctx, caller, params.id, body.code)),
    }),
  );

  app.post(
    '/api/user/factors/passkey/options',
    { schema: contract.createPasskeyOptions, config: { ...change, idempotency: 'reads' } },
    async ({ ctx, caller }) => ({
      success,
      options: { ...(await createRegistrationOptions(ctx, caller, getSessionId(caller))) },
    }),
  );

  app.post(
    '/api/user/factors/passkey',
    { schema: contract.createPasskey, config: change },
    async ({ ctx, caller, body }, reply) => {
      const created = await createPasskey(ctx, caller, body);
      reply.code(201);
      return { success, ...created };
    },
  );

  app.delete(
    '/api/user/factors/:id',
    { schema: contract.deleteFactor, config: change },
    async ({ ctx, caller, params }) => {
      await deleteFactor(ctx, caller, params.id);
      return { success, message: 'The second factor is deleted.' };
    },
  );

  app.post(
    '/api/user/recovery-codes',
    { schema: contract.createRecoveryCodes, config: change },
    async ({ ctx, caller }) => ({ success, recoveryCodes: await createRecoveryCodes(ctx, caller) }),
  );

  app.post(
    '/api/auth/second-factor',
    { schema: contract.answerTicket, config: { access: 'public' } },
    async (request, reply) => answerSignIn(request, reply, await answerTicket(request.ctx, request.body)),
  );

  app.post(
    '/api/auth/passkey/options',
    { schema: contract.getPasskeyOptions, config: { access: 'public' } },
    async (request, reply) => {
      const { ctx } = request;
      const session = findSessionId(request);
      if (session !== null) return { success, options: { ...(await createAssertionOptions(ctx, session)) } };
      const browser = parseBrowserCookie(request.headers.cookie) ?? randomBytes(32).toString('base64url');
      reply.header('set-cookie', serializeBrowserCookie(ctx.config, browser));
      return { success, options: { ...(await createAssertionOptions(ctx, browser)) } };
    },
  );

  app.post(
    '/api/auth/passkey',
    { schema: contract.signInWithPasskey, config: { access: 'public' } },
    async (request, reply) => {
      const { ctx, body } = request;
      const bindings = findBindings(request, findSessionId(request));
      return answerSignIn(request, reply, await signInWithPasskey(ctx, body.response, bindings));
    },
  );
};

/** Sets the cookie of a new session. */
export function answerSignIn(request: FastifyRequest, reply: FastifyReply, { user, token }: SignedIn) {
  const wantsToken = request.headers['x-request-token'] === 'true';
  setSessionCookie(reply, request.ctx.config, token, SESSION_SECONDS);
  return { success, user, ...(wantsToken ? { token } : {}) };
}

/** Whose challenges the request may answer: those of its session, and of its browser before the sign-in. */
export const findBindings = ({ headers }: FastifyRequest, sessionId: string | null): string[] =>
  [sessionId, parseBrowserCookie(headers.cookie)].filter((binding) => binding !== null);

/** Of a public route: the session may have ended, and gets nothing but a challenge. */
function findSessionId({ ctx, headers }: FastifyRequest): string | null {
  const token = findBearer(headers.authorization) ?? parseSessionCookie(headers.cookie);
  return token === null ? null : (ctx.tokens.verify(token, ctx.now())?.sessionId ?? null);
}
