import * as contract from '@carillon/contract/accounts/auth';
import { clearSessionCookie } from '../../platform/http/credentials.ts';
import { type Routes, success } from '../../platform/http/validation.ts';
import { confirmBy } from './confirm-session.ts';
import { answerSignIn, findBindings } from './factors/routes.ts';
import { getReset, requestReset, resetPassword } from './password-reset.ts';
import { listSessions } from './sessions.ts';
import { endOwnSession, logIn, logOut, register } from './write.ts';

export const authRoutes: Routes = async (app, { ctx }) => {
  app.post(
    '/api/auth/register',
    { schema: contract.register, config: { access: 'public' } },
    async (request, reply) => {
      const user = await register(request.ctx, request.body);
      return reply.code(201).send({ success, user });
    },
  );

  app.post('/api/auth/login', { schema: contract.login, config: { access: 'public' } }, async (request, reply) =>
    answerSignIn(request, reply, await logIn(request.ctx, request.body)),
  );

  app.post(
    '/api/auth/logout',
    { schema: contract.logout, config: { access: 'user' } },
    async ({ ctx, caller }, reply) => {
      await logOut(ctx, caller);
      clearSessionCookie(reply, ctx.config);
      return { success, message: 'You are signed out.' };
    },
  );

  app.get(
    '/api/auth/session',
    { schema: contract.getSession, config: { access: 'user', shape: 'authenticated' } },
    async ({ caller }) => ({
      authenticated: true as const,
      user: caller,
    }),
  );

  app.post(
    '/api/auth/confirm',
    // A wrong password or code stays counted.
    { schema: contract.confirmSession, config: { access: 'user', idempotency: { transactions: 'own' } } },
    async (request) => {
      const { ctx, caller, body } = request;
      await confirmBy(ctx, caller, body, findBindings(request, caller.sessionId));
      return { success, message: 'The session is confirmed for 15 minutes.' };
    },
  );

  app.post(
    '/api/auth/forgot-password',
    { schema: contract.forgotPassword, config: { access: 'public' } },
    async (request) => {
      await requestReset(request.ctx, request.body);
      const message = 'If this address has an account, a link to choose a new password is on its way.';
      return { success, message };
    },
  );

  app.get(
    '/api/auth/validate-reset-token',
    { schema: contract.validateResetToken, config: { access: 'public', shape: 'valid' }, attachValidation: true },
    async ({ query, validationError }) => ({
      valid: true as const,
      ...(await getReset(ctx, validationError ? '' : query.token)),
    }),
  );

  app.post(
    '/api/auth/reset-password',
    { schema: contract.resetPassword, config: { access: 'public' } },
    async (request) => {
      await resetPassword(request.ctx, request.body);
      return { success, message: 'Your password is changed. Sign in with the new one.' };
    },
  );

  app.get('/api/auth/sessions', { schema: contract.listSessions, config: { access: 'user' } }, async ({ caller }) => ({
    success,
    sessions: await listSessions(ctx, caller),
  }));

  app.delete(
    '/api/auth/sessions/:id',
    { schema: contract.endSession, config: { access: 'user' } },
    async ({ ctx, caller, params }, reply) => {
      await endOwnSession(ctx, caller, params.id);
      if (params.id.toLowerCase() === caller.sessionId) clearSessionCookie(reply, ctx.config);
      return { success, message: 'The session is ended.' };
    },
  );
};
