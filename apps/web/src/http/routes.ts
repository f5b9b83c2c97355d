import { Readable } from 'node:stream';
import { getTexts, negotiateLanguage, type Texts } from '@carillon/texts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { renderSignedIn, renderSignedOut } from '../document.ts';
import type { Html } from '../html.ts';
import {
  ActionFailed,
  type Dashboard,
  isDownload,
  isRedirect,
  type Page,
  type PageContext,
  type PageResponse,
  type UserPageContext,
  unwrap,
} from '../page.ts';
import { readTheme, setNotice, takeNotice } from './cookies.ts';
import { createCsrfField } from './csrf.ts';
import { ANSWER_ROUTE, LONG_FORM_ROUTE, ONE_CLICK_ROUTE, PAGE_ROUTE } from './page-route.ts';
import { isKept, renderResendForm } from './resend-form.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Once a session is found: pages of errors then have the menu. */
    userPage?: UserPageContext;
  }
}

type Handler<V extends PageContext> = (context: V) => Promise<PageResponse> | PageResponse;
type FragmentHandler = (context: UserPageContext) => Promise<Html> | Html;

/** Registers pages. GET shows one; POST takes a form, and redirects or shows the form again with its errors. */
export interface PageRoutes {
  /** A page for anybody. */
  guest(method: 'GET' | 'POST', path: string, handle: Handler<PageContext>): void;
  /** A form for anybody, mail programs included: neither a token nor the origin is checked. */
  oneClick(path: string, handle: Handler<PageContext>): void;
  /** A page that asks for a sign-in first. */
  user(method: 'GET' | 'POST', path: string, handle: Handler<UserPageContext>): void;
  /** A form whose answer a script may show as it arrives. */
  answer(path: string, handle: Handler<UserPageContext>): void;
  /** The same, with values that are kept where its session has ended. */
  longForm(path: string, handle: Handler<UserPageContext>): void;
  /** A page that does not exist for anybody but admins. */
  admin(method: 'GET' | 'POST', path: string, handle: Handler<UserPageContext>): void;
  /** A part of a page that a script replaces. */
  fragment(method: 'GET' | 'POST', path: string, handle: FragmentHandler): void;
  /** A page of plain text, for those who are signed in. */
  text(path: string, handle: (context: UserPageContext) => Promise<string>): void;
}

/** Where an account adds the second factor that the installation asks for. */
const FACTOR_PAGE = '/settings/second-factor';
const ADDS_FACTOR = /^\/(settings\/(second-factor|confirm)|sign-out)(\/|\?|$)/;

export function createPageRoutes(app: FastifyInstance, dashboard: Dashboard): PageRoutes {
  const signedIn =
    (handle: Handler<UserPageContext>, allows: (context: UserPageContext) => boolean = () => true) =>
    async (request: FastifyRequest, reply: FastifyReply) => {
      const context = await openPageContext(dashboard, request, reply);
      if (!context) return askForSignIn(dashboard, request, reply);
      if (context.viewer.isFactorMissing && !ADDS_FACTOR.test(request.url)) return reply.redirect(FACTOR_PAGE, 303);
      if (!allows(context)) throw new ActionFailed({ success: false, error: 'Not found', code: 'NOT_FOUND' });
      if (request.routeOptions.config.streams && dashboard.wantsEvents(request)) {
        return dashboard.streamAnswer(request, reply, async (stream) =>
          describeAnswer(await handle({ ...context, stream })),
        );
      }
      return send(context, await handle(context), (page) => renderSignedIn(context, describeFrame(context, page)));
    };
  const signedOut = (handle: Handler<PageContext>) => async (request: FastifyRequest, reply: FastifyReply) => {
    const context = createPageContext(dashboard, request, reply);
    return send(context, await handle(context), (page) => renderSignedOut(context, describeFrame(context, page)));
  };
  return {
    guest: (method, url, handle) => app.route({ method, url, ...PAGE_ROUTE, handler: signedOut(handle) }),
    oneClick: (url, handle) => app.route({ method: 'POST', url, ...ONE_CLICK_ROUTE, handler: signedOut(handle) }),
    user: (method, url, handle) => app.route({ method, url, ...PAGE_ROUTE, handler: signedIn(handle) }),
    answer: (url, handle) => app.route({ method: 'POST', url, ...ANSWER_ROUTE, handler: signedIn(handle) }),
    longForm: (url, handle) => app.route({ method: 'POST', url, ...LONG_FORM_ROUTE, handler: signedIn(handle) }),
    admin: (method, url, handle) =>
      app.route({ method, url, ...PAGE_ROUTE, handler: signedIn(handle, ({ viewer }) => viewer.role === 'ADMIN') }),
    fragment: (method, url, handle) =>
      app.route({
        method,
        url,
        ...PAGE_ROUTE,
        handler: async (request, reply) => {
          const context = await openPageContext(dashboard, request, reply);
          if (!context) return askForSignIn(dashboard, request, reply);
          return sendHtml(reply, await handle(context));
        },
      }),
    text: (url, handle) =>
      app.get(url, PAGE_ROUTE, async (request, reply) => {
        const context = await openPageContext(dashboard, request, reply);
        if (!context) return askForSignIn(dashboard, request, reply);
        const content = await handle(context);
        return reply.type('text/plain; charset=utf-8').header('content-disposition', 'inline').send(content);
      }),
  };
}

/** Null if only the whole page can show what the form has done. */
const describeAnswer = (response: PageResponse) =>
  'answer' in response && response.answer
    ? { html: String(response.answer), isRefused: (response.status ?? 200) !== 200 }
    : { html: null };

/** In the language of the user, once the session is found, or else of the browser. */
export const readTexts = ({ userPage, headers }: FastifyRequest): Texts =>
  userPage?.texts ?? getTexts(negotiateLanguage(headers['accept-language']));

export function createPageContext(dashboard: Dashboard, request: FastifyRequest, reply: FastifyReply): PageContext {
  const userAgent = request.headers['user-agent']?.slice(0, 500);
  const acceptLanguage = request.headers['accept-language']?.slice(0, 1000);
  return {
    dashboard,
    actions: dashboard.actions,
    request,
    reply,
    now: dashboard.now(),
    client: { address: request.ip, ...(userAgent && { userAgent }), ...(acceptLanguage && { acceptLanguage }) },
    texts: readTexts(request),
    csrfField: createCsrfField(dashboard, reply),
  };
}

/** Returns null without a session. Throws `ActionFailed` for any other reason to refuse it. */
export async function openPageContext(
  dashboard: Dashboard,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<UserPageContext | null> {
  const token = dashboard.readSession(request.headers.cookie);
  if (token === null) return null;
  const context = createPageContext(dashboard, request, reply);
  const result = await dashboard.actions.openSession(token, context.client);
  if (!result.success && result.code === 'AUTH_REQUIRED') return null;
  const { session, viewer } = unwrap(result);
  request.userPage = {
    ...context,
    session,
    viewer,
    timeZone: viewer.timezone ?? 'UTC',
    texts: getTexts(viewer.language),
  };
  return request.userPage;
}

/** Scripts get a header instead: they would follow a redirect and show the sign-in inside of a page. */
export function askForSignIn(dashboard: Dashboard, request: FastifyRequest, reply: FastifyReply) {
  if (isKept(request)) return sendResendForm(dashboard, request, reply);
  const isForm = request.method === 'POST';
  const isPart = request.headers['hx-request'] !== undefined;
  const next = isForm || isPart ? findPageBefore(dashboard, request) : request.url;
  const address = next === '/' ? '/sign-in' : `/sign-in?next=${encodeURIComponent(next)}`;
  const { sessionEnded, signedOut } = readTexts(request).navigation;
  if (isForm || isPart) setNotice(reply, dashboard, { kind: 'warn', text: isForm ? sessionEnded : signedOut });
  if (isPart) return reply.code(200).header('hx-redirect', address).send();
  return reply.redirect(address, 303);
}

function sendResendForm(dashboard: Dashboard, request: FastifyRequest, reply: FastifyReply) {
  const texts = readTexts(request);
  const csrfField = createCsrfField(dashboard, reply);
  const page = renderResendForm(request, { texts, csrfField, isSignedIn: false });
  const frame = { page, notice: null, theme: readTheme(request) };
  return sendHtml(reply.code(401), renderSignedOut({ dashboard, texts }, frame));
}

/** The page with the form that was sent; the first page if that is not known. */
function findPageBefore({ appUrl }: Dashboard, { headers: { referer = '' } }: FastifyRequest): string {
  if (!URL.canParse(referer)) return '/';
  const { origin, pathname, search } = new URL(referer);
  return origin === new URL(appUrl).origin ? `${pathname}${search}` : '/';
}

const describeFrame = ({ request, reply }: PageContext, page: Page) => ({
  page,
  notice: takeNotice(request, reply),
  theme: readTheme(request),
});

function send({ dashboard, reply }: PageContext, answer: PageResponse, render: (page: Page) => Html) {
  if (isDownload(answer)) {
    reply.type(answer.type).header('content-disposition', `attachment; filename="${answer.fileName}"`);
    return reply.send(Readable.from(answer.content));
  }
  if (!isRedirect(answer)) return sendHtml(reply.code(answer.status ?? 200), render(answer));
  if (answer.notice) setNotice(reply, dashboard, answer.notice);
  for (const cookie of answer.cookies ?? []) reply.header('set-cookie', cookie);
  return reply.redirect(answer.to, 303);
}

export const sendHtml = (reply: FastifyReply, markup: Html) =>
  reply.type('text/html; charset=utf-8').send(String(markup));
