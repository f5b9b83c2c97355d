import { getSession, login, logout, register as registerOperation } from '@carillon/contract/auth';
import type { FastifyRequest } from 'fastify';
import type { Routes } from '../http/contract.ts';
import { clearedCookie, sessionCookie } from './cookie.ts';
import type { Origin } from './sessions.ts';
import { logIn, logOut, register } from './write.ts';

/** Specification "Accounts and sessions". */
export const authRoutes: Routes = async (app, { ctx }) => {
  app.post(
    '/api/auth/register',
    { schema: registerOperation, config: { access: 'public' } },
    async (request, reply) => {
      const user = await register(request.ctx, request.body, originOf(request));
      return reply.code(201).send({ success: true, user });
    },
  );

  app.post('/api/auth/login', { schema: login, config: { access: 'public' } }, async (request, reply) => {
    const { user, token } = await logIn(request.ctx, request.body, originOf(request));
    const wantsToken = request.headers['x-request-token'] === 'true';
    reply.header('set-cookie', sessionCookie(ctx.config, token));
    return { success: true as const, user, ...(wantsToken ? { token } : {}) };
  });

  app.post('/api/auth/logout', { schema: logout, config: { access: 'user' } }, async ({ caller }, reply) => {
    await logOut(ctx, caller);
    reply.header('set-cookie', clearedCookie(ctx.config));
    return { success: true as const, message: 'You are signed out.' };
  });

  app.get(
    '/api/auth/session',
    { schema: getSession, config: { access: 'user', shape: 'authenticated' } },
    async ({ caller }) => ({
      authenticated: true as const,
      user: caller,
    }),
  );
};

const originOf = ({ ip, headers }: Pick<FastifyRequest, 'ip' | 'headers'>): Origin => ({
  address: ip,
  userAgent: headers['user-agent'] ?? null,
});
