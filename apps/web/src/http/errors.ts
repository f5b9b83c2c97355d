import type { WebActionError } from '@carillon/contract/actions/web/index';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { formatDuration } from '../components/format.ts';
import { renderSignedOut } from '../document.ts';
import { EMPTY, html } from '../html.ts';
import type { Page } from '../page.ts';
import { ActionFailed, type Dashboard } from '../page.ts';
import { explainCookies, readTheme } from './cookies.ts';
import { sendHtml } from './routes.ts';
import { describePageHeaders } from './security.ts';

const back = html`<p><a href="/">Go to the first page</a></p>`;

export const NOT_FOUND: Page = {
  status: 404,
  title: 'Page not found',
  body: html`<p>There is nothing at this address, or it belongs to another account.</p>${back}`,
};

const errorPage = (status: number, title: string, text: string): Page => ({
  status,
  title,
  body: html`<p>${text}</p>${back}`,
});

/** The page of an error that no form shows. */
function describeActionError(result: WebActionError): Page {
  switch (result.code) {
    case 'NOT_FOUND':
      return NOT_FOUND;
    case 'INSUFFICIENT_PERMISSIONS':
      return errorPage(403, 'Not allowed', 'Your account may not do this.');
    case 'CONFIRMATION_REQUIRED':
      return errorPage(403, 'Not confirmed', result.error);
    case 'RATE_LIMIT_EXCEEDED':
      return errorPage(429, 'Too many requests', `Try again in ${formatDuration(result.retryAfter * 1000)}.`);
    case 'SERVICE_UNAVAILABLE':
      return errorPage(503, 'Carillon cannot answer now', result.error);
    case 'QUOTA_EXCEEDED':
      return errorPage(402, 'Quota used up', result.error);
    case 'AUTH_REQUIRED':
    case 'INVALID_CREDENTIALS':
      return errorPage(401, 'Signed out', 'Your session has ended. Sign in again.');
    case 'CONFLICT':
      return errorPage(409, 'Changed meanwhile', result.error);
    case 'INTERNAL_ERROR':
      return errorPage(500, 'Something went wrong', 'The error is in the log of this service.');
    case undefined: {
      const [[field, [message] = []] = []] = Object.entries(result.details);
      return errorPage(400, 'Invalid request', `${field ?? 'The request'}: ${message ?? 'is not valid'}.`);
    }
  }
}

const TITLES: Record<number, string> = {
  400: 'Invalid request',
  403: 'Not allowed',
  429: 'Too many requests',
  500: 'Something went wrong',
  503: 'Carillon cannot answer now',
};

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
function explainRefusedForm(error: FastifyError, { appUrl }: Dashboard): string | null {
  if (isCookieLost(error)) return `Your browser has not sent a cookie back. ${explainCookies(appUrl)}`;
  if (isCsrfError(error)) {
    return 'The form is out of date, or came from another site. Go back, reload the page and send it again.';
  }
  if (!isCrossSite(error as { kind?: unknown })) return null;
  return `The form came from another address than ${new URL(appUrl).origin}, where Carillon runs. Open it there and try again.`;
}

function sendPage(dashboard: Dashboard, request: FastifyRequest, reply: FastifyReply, page: Page) {
  const markup = renderSignedOut(dashboard, {
    page: { ...page, subtitle: EMPTY },
    notice: null,
    theme: readTheme(request),
  });
  return sendHtml(reply.code(page.status ?? 500).headers(describePageHeaders(request)), markup);
}

export function showErrorPages(app: FastifyInstance, dashboard: Dashboard): void {
  app.setErrorHandler((error: FastifyError | ActionFailed, request, reply) => {
    if (error instanceof ActionFailed) return sendPage(dashboard, request, reply, describeActionError(error.result));
    if (isCookieLost(error) && request.url.startsWith('/sign-in')) return reply.redirect('/sign-in?error=cookies', 303);
    const refusal = explainRefusedForm(error, dashboard);
    if (isCsrfError(error) && isProgram(request)) return reply.code(403).send(NO_REGISTRATION);
    const isShown = isCsrfError(error) || acceptsHtml(request.headers.accept);
    if (!isShown) return dashboard.sendError(error, request, reply);
    if (refusal !== null) return sendPage(dashboard, request, reply, errorPage(403, 'Form not accepted', refusal));
    const { status, body } = dashboard.prepareError(error, request, reply);
    const text = body.message ?? 'The request could not be read.';
    return sendPage(dashboard, request, reply, errorPage(status, TITLES[status] ?? 'Invalid request', text));
  });
}

/** Sends the page for an address without one. */
export const sendNotFound = (dashboard: Dashboard, request: FastifyRequest, reply: FastifyReply) =>
  sendPage(dashboard, request, reply, NOT_FOUND);

/** Whether a request without a route comes from a browser, and not from a program at a mistyped address of the API. */
export const acceptsPage = ({ method, headers, url }: FastifyRequest): boolean =>
  (method === 'GET' || method === 'HEAD') && !/^\/api(\/|$)/.test(url) && acceptsHtml(headers.accept);

export const acceptsHtml = (accept: string | undefined): boolean => accept?.includes('text/html') === true;
