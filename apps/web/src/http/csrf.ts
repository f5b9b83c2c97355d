import csrfProtection from '@fastify/csrf-protection';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { EMPTY, type Html, html } from '../html.ts';
import type { Dashboard } from '../page.ts';
import { describeCookie } from './cookies.ts';

const FIELD = '_csrf';
const COOKIE = 'csrf';

/**
 * Demands the token of a form in every POST. It belongs to the session and to a secret in a cookie, so that neither another
 * site nor a form of an earlier session is accepted.
 */
export async function demandCsrfTokens(app: FastifyInstance, dashboard: Dashboard): Promise<void> {
  await app.register(csrfProtection, {
    cookieKey: COOKIE,
    cookieOpts: describeCookie(dashboard),
    csrfOpts: { hmacKey: dashboard.csrfKey },
    getUserInfo: (request) => describeOwner(dashboard, request),
    logLevel: 'info',
  });
  app.addHook('preHandler', (request, reply, done) => {
    if (request.method === 'POST' && !request.routeOptions.config.isOneClick) app.csrfProtection(request, reply, done);
    else done();
  });
}

/** Whose form it is. The library refuses an empty text. */
const describeOwner = ({ readSession }: Dashboard, { headers }: FastifyRequest) =>
  readSession(headers.cookie) ?? 'signed out';

/** The hidden field of a form. Empty at an address without a page, which knows no tokens. */
export function createCsrfField(dashboard: Dashboard, reply: FastifyReply): Html {
  if (!reply.generateCsrf) return EMPTY;
  const token = reply.generateCsrf({ userInfo: describeOwner(dashboard, reply.request) });
  return html`<input type="hidden" name="${FIELD}" value="${token}">`;
}
