import * as contract from '@carillon/contract/oauth';
import { sessionCookie } from '../http/session-cookie.ts';
import type { Routes } from '../http/validation.ts';
import { beginOAuth, callbackOf, finishOAuth } from './oauth.ts';
import { dropFlow, FLOW_COOKIE, findFlow, keepFlow } from './oauth-flow.ts';

/** Specification "Authentication" 3: sign-in with external providers, for browsers. */
export const oauthRoutes: Routes = async (app, { ctx }) => {
  const config = { access: 'public' } as const;

  app.get('/api/auth/oauth/:provider', { schema: contract.startOAuth, config }, async ({ params }, reply) => {
    const { url, flow } = await beginOAuth(ctx, params.provider);
    return reply.header('set-cookie', keepFlow(ctx, params.provider, flow)).redirect(url);
  });

  app.get('/api/auth/oauth/:provider/callback', { schema: contract.finishOAuth, config }, async (request, reply) => {
    const { provider } = request.params;
    reply.header('set-cookie', dropFlow(ctx));
    const flow = findFlow(ctx, provider, app.parseCookie(request.headers.cookie ?? '')[FLOW_COOKIE]);
    // From the configuration, never from the Host header: it has to be the address that the provider was told.
    const callback = new URL(callbackOf(ctx, provider));
    callback.search = new URL(request.url, callback).search;
    const { token } = await finishOAuth(request.ctx, provider, callback, flow);
    return reply.header('set-cookie', sessionCookie(ctx.config, token)).redirect(ctx.config.appUrl);
  });
};
