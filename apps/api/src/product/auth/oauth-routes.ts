import * as contract from '@carillon/contract/accounts/oauth';
import { toOwnPath } from '@carillon/contract/validation/own-path';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from '../../context.ts';
import { AppError, type ErrorKind } from '../../errors.ts';
import { decrypt, encrypt } from '../../lib/crypto/encryption.ts';
import type { OAuthFlow } from '../../lib/third-party/oauth.ts';
import { serializeTicketCookie, setSessionCookie } from '../../platform/http/credentials.ts';
import { handleError } from '../../platform/http/error-handler.ts';
import type { Routes } from '../../platform/http/validation.ts';
import { beginOAuth, finishOAuth, getCallbackUrl } from './oauth.ts';
import { SESSION_SECONDS } from './sessions.ts';

export const oauthRoutes: Routes = async (app, { ctx }) => {
  const config = { access: 'public' } as const;
  /** Where the browsers of failed sign-ins wanted to go. */
  const nexts = new WeakMap<FastifyRequest, string>();
  const addNext = (request: FastifyRequest, separator: '?' | '&') => {
    const next = nexts.get(request) ?? '/';
    return next === '/' ? '' : `${separator}next=${encodeURIComponent(next)}`;
  };
  app.setErrorHandler(async (error: FastifyError, request, reply) => {
    const isForPage = ctx.config.dashboard && isBrowser(request);
    if (isForPage && error instanceof AppError && error.kind === 'second_factor_required') {
      reply.header('set-cookie', serializeTicketCookie(ctx.config, String(error.details?.ticket)));
      return reply.redirect(`${ctx.config.appUrl}/sign-in/second-factor${addNext(request, '?')}`);
    }
    const code = isForPage ? toPageError(error) : null;
    if (code === null) return handleError(error, request, reply);
    return reply.redirect(`${ctx.config.appUrl}/sign-in?error=${code}${addNext(request, '&')}`);
  });

  app.get('/api/auth/oauth/:provider', { schema: contract.startOAuth, config }, async ({ params, query }, reply) => {
    const { url, flow } = await beginOAuth(ctx, params.provider);
    const next = (query.next?.length ?? 0) > MAX_NEXT ? '/' : toOwnPath(query.next);
    setFlowCookie(
      ctx,
      reply,
      encryptFlow(ctx, params.provider, { ...flow, ...(next !== '/' && { next }) }),
      FLOW_SECONDS,
    );
    return reply.redirect(url);
  });

  app.get('/api/auth/oauth/:provider/callback', { schema: contract.finishOAuth, config }, async (request, reply) => {
    const { provider } = request.params;
    // A flow is valid for one callback.
    setFlowCookie(ctx, reply, '', 0);
    const flow = decryptFlow(ctx, provider, app.parseCookie(request.headers.cookie ?? '')[FLOW_COOKIE]);
    const next = flow?.next ?? '/';
    nexts.set(request, next);
    // The configured address, which the provider knows, instead of the Host header.
    const callback = new URL(getCallbackUrl(ctx, provider));
    callback.search = new URL(request.url, callback).search;
    const { token } = await finishOAuth(request.ctx, provider, callback, flow);
    setSessionCookie(reply, ctx.config, token, SESSION_SECONDS);
    return reply.redirect(next === '/' ? ctx.config.appUrl : `${ctx.config.appUrl}${next}`);
  });
};

const isBrowser = ({ headers }: FastifyRequest) => headers.accept?.includes('text/html') === true;

/** What the sign-in page explains. */
const PAGE_ERRORS: Partial<Record<ErrorKind, string>> = {
  sign_in_failed: 'failed',
  forbidden: 'unverified',
  deactivated: 'deactivated',
  unavailable: 'unreachable',
};

const toPageError = (error: unknown) => (error instanceof AppError && PAGE_ERRORS[error.kind]) || null;

/** Ties both steps of a sign-in to one browser. */
const FLOW_COOKIE = 'oauth-flow';
const FLOW_SECONDS = 600;

/** `SameSite=Lax`, because the browser returns from another site by a plain navigation. */
function setFlowCookie({ config }: Context, reply: FastifyReply, value: string, maxAge: number) {
  const secure = config.cookieSecure;
  reply.setCookie(FLOW_COOKIE, value, { path: '/api/auth/oauth', httpOnly: true, secure, sameSite: 'lax', maxAge });
}

/** A cookie has 4,096 bytes. */
const MAX_NEXT = 2000;

interface BrowserFlow extends OAuthFlow {
  /** Where the browser goes on; the first page without it. */
  next?: string;
}

function encryptFlow(ctx: Context, provider: string, flow: BrowserFlow): string {
  const until = ctx.now().getTime() + FLOW_SECONDS * 1000;
  return encrypt(ctx.config.encryptionKeys, JSON.stringify({ ...flow, until }), toFlowAad(provider));
}

/** Returns null for a cookie that is missing, expired, changed, or of another provider. */
function decryptFlow(ctx: Context, provider: string, cookie: string | undefined): BrowserFlow | null {
  if (!cookie) return null;
  try {
    const { until, ...flow } = JSON.parse(decrypt(ctx.config.encryptionKeys, cookie, toFlowAad(provider)));
    return until > ctx.now().getTime() ? flow : null;
  } catch {
    return null;
  }
}

const toFlowAad = (provider: string) => `oauth-flow:${provider}`;
