import type { WebActionError } from '@carillon/contract/actions/web/index';
import { type Texts, translateApiMessage } from '@carillon/texts';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { renderSignedIn, renderSignedOut } from '../document.ts';
import { EMPTY, html } from '../html.ts';
import { ActionFailed, type Dashboard, type Page } from '../page.ts';
import { explainCookies, readTheme } from './cookies.ts';
import { createCsrfField } from './csrf.ts';
import { isKept, renderResendForm } from './resend-form.ts';
import { openPageContext, readTexts, sendHtml } from './routes.ts';
import { describePageHeaders } from './security.ts';

const errorPage = ({ errors }: Texts, status: number, title: string, text: string): Page => ({
  status,
  title,
  body: html`<div class="gap"><p class="lead">${text}</p><p><a href="/">${errors.backHome}</a></p></div>`,
});

export const renderNotFound = ({ texts }: { texts: Texts }): Page =>
  errorPage(texts, 404, texts.errors.notFound, texts.errors.notFoundText);

/** The page of an error that no form shows. */
function describeActionError(result: WebActionError, texts: Texts): Page {
  const { errors, formats } = texts;
  const page = (status: number, title: string, text: string) => errorPage(texts, status, title, text);
  switch (result.code) {
    case 'NOT_FOUND':
      return renderNotFound({ texts });
    case 'INSUFFICIENT_PERMISSIONS':
      return page(403, errors.notAllowed, errors.notAllowedText);
    case 'CONFIRMATION_REQUIRED':
      return page(403, errors.notConfirmed, translateApiMessage(result.error, texts));
    case 'RATE_LIMIT_EXCEEDED':
      return page(429, errors.tooManyRequests, errors.tryAgainIn(formats.duration(result.retryAfter * 1000)));
    case 'SERVICE_UNAVAILABLE':
      return page(503, errors.unavailable, translateApiMessage(result.error, texts));
    case 'QUOTA_EXCEEDED':
      return page(402, errors.quotaUsed, translateApiMessage(result.error, texts));
    case 'AUTH_REQUIRED':
    case 'INVALID_CREDENTIALS':
      return page(401, errors.signedOut, errors.signedOutText);
    case 'CONFLICT':
      return page(409, errors.conflict, translateApiMessage(result.error, texts));
    case 'INTERNAL_ERROR':
      return page(500, errors.internal, errors.internalText);
    case undefined: {
      const [[field, [message] = []] = []] = Object.entries(result.details);
      return page(400, errors.invalid, errors.invalidField(field, message && translateApiMessage(message, texts)));
    }
  }
}

function titleOf(status: number, { errors }: Texts): string {
  switch (status) {
    case 403:
      return errors.notAllowed;
    case 429:
      return errors.tooManyRequests;
    case 500:
      return errors.internal;
    case 503:
      return errors.unavailable;
    default:
      return errors.invalid;
  }
}

const isCsrfError = ({ code }: FastifyError) => code?.startsWith('FST_CSRF_') === true;

/** The cookie that belongs to the token of a form has not come back. */
const isCookieLost = ({ code }: FastifyError) => code === 'FST_CSRF_MISSING_SECRET';

/** The service has refused the origin of the request. */
const isCrossSite = (error: { kind?: unknown }) => error.kind === 'cross_site';

/** Assistants without a key look for an authorization server, and register at `/register` if they find none. */
const NO_REGISTRATION = {
  success: false,
  error: 'access_denied',
  error_description:
    'There is no authorization server, and this address takes the form of a page. Send an API key as a bearer token.',
};

const isProgram = ({ headers }: FastifyRequest) => headers['content-type']?.startsWith('application/json') === true;

/** Null for an error that has nothing to do with where a form comes from. */
function explainRefusedForm(error: FastifyError, { appUrl }: Dashboard, texts: Texts): string | null {
  const { forms } = texts;
  if (isCookieLost(error)) return forms.cookieLost(explainCookies(appUrl, texts));
  if (isCsrfError(error)) return forms.outdated;
  return isCrossSite(error as { kind?: unknown }) ? forms.otherOrigin(new URL(appUrl).origin) : null;
}

/** With the menu, unless the session has ended. */
function sendPage(dashboard: Dashboard, request: FastifyRequest, reply: FastifyReply, page: Page) {
  const frame = { page: { ...page, subtitle: EMPTY }, notice: null, theme: readTheme(request) };
  const markup =
    request.userPage && page.status !== 401
      ? renderSignedIn(request.userPage, frame)
      : renderSignedOut({ dashboard, texts: readTexts(request) }, frame);
  return sendHtml(reply.code(page.status ?? 500).headers(describePageHeaders(request)), markup);
}

export function showErrorPages(app: FastifyInstance, dashboard: Dashboard): void {
  app.setErrorHandler((error: FastifyError | ActionFailed, request, reply) => {
    const texts = readTexts(request);
    if (error instanceof ActionFailed) {
      return sendPage(dashboard, request, reply, describeActionError(error.result, texts));
    }
    if (isCookieLost(error) && request.url.startsWith('/sign-in')) return reply.redirect('/sign-in?error=cookies', 303);
    const refusal = explainRefusedForm(error, dashboard, texts);
    if (isCsrfError(error) && isProgram(request)) return reply.code(403).send(NO_REGISTRATION);
    if (isCsrfError(error) && isKept(request)) {
      const isSignedIn = dashboard.readSession(request.headers.cookie) !== null;
      const csrfField = createCsrfField(dashboard, reply);
      return sendPage(dashboard, request, reply, renderResendForm(request, { texts, csrfField, isSignedIn }));
    }
    const isShown = isCsrfError(error) || acceptsHtml(request.headers.accept);
    if (!isShown) return dashboard.sendError(error, request, reply);
    if (refusal !== null) {
      return sendPage(dashboard, request, reply, errorPage(texts, 403, texts.forms.notAccepted, refusal));
    }
    const { status, body } = dashboard.prepareError(error, request, reply);
    const text = body.message ?? texts.errors.unreadable;
    return sendPage(dashboard, request, reply, errorPage(texts, status, titleOf(status, texts), text));
  });
}

/** Sends the page for an address without one. */
export async function sendNotFound(dashboard: Dashboard, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  await openPageContext(dashboard, request, reply).catch(() => null);
  sendPage(dashboard, request, reply, renderNotFound({ texts: readTexts(request) }));
}

/** Whether a request without a route comes from a browser, and not from a program at a mistyped address of the API. */
export const acceptsPage = ({ method, headers, url }: FastifyRequest): boolean =>
  (method === 'GET' || method === 'HEAD') && !/^\/api(\/|$)/.test(url) && acceptsHtml(headers.accept);

export const acceptsHtml = (accept: string | undefined): boolean => accept?.includes('text/html') === true;
