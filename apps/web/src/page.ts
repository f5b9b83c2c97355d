import type { ActionSuccess } from '@carillon/contract/actions/index';
import type { AnswerStream, OpenedSession, Viewer, WebActionError } from '@carillon/contract/actions/web/index';

export { toOwnPath } from '@carillon/contract/validation/own-path';

import type { Texts } from '@carillon/texts';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import type { WebActions } from './actions.ts';
import type { Html } from './html.ts';

export interface Dashboard {
  actions: WebActions;
  now: () => Date;
  /** Without a slash at its end. */
  appUrl: string;
  /** The address that assistants connect to. */
  assistantUrl: string;
  /** Whether cookies are sent over https only. */
  secureCookies: boolean;
  /** The names of providers that accounts can sign in with, such as `github`. */
  signInProviders: readonly string[];
  /** The `Set-Cookie` header of a session; null clears it. */
  serializeSession(token: string | null): string;
  /** The token in a `Cookie` header; null if there is none, or several. */
  readSession(cookieHeader: string | undefined): string | null;
  /** The `Set-Cookie` header of a sign-in that waits for its second factor; null clears it. */
  serializeTicket(ticket: string | null): string;
  readTicket(cookieHeader: string | undefined): string | null;
  /** The same of what ties the challenge of a passkey to a browser. */
  serializeBrowser(browser: string): string;
  readBrowser(cookieHeader: string | undefined): string | null;
  /** A secret, the same in all processes. */
  csrfKey: string;
  /** Logs an error that is no answer of an action, sets its headers, and returns what to show. */
  prepareError(
    error: FastifyError,
    request: FastifyRequest,
    reply: FastifyReply,
  ): { status: number; body: { message?: string } };
  /** Answers a program with an error. */
  sendError(error: FastifyError, request: FastifyRequest, reply: FastifyReply): FastifyReply;
  /** Whether a script asks for the answer of a form as it arrives. */
  wantsEvents(request: FastifyRequest): boolean;
  /** Sends what `work` writes into the stream as events `content`, and what it returns as the event `done`. */
  streamAnswer(
    request: FastifyRequest,
    reply: FastifyReply,
    work: (stream: AnswerStream) => Promise<object>,
  ): Promise<FastifyReply>;
  /** What programs get at `/`. */
  describeService(): object;
}

/** One request for a page. */
export interface PageContext {
  dashboard: Dashboard;
  actions: WebActions;
  request: FastifyRequest;
  reply: FastifyReply;
  /** The time of the request. */
  now: Date;
  /** The client that actions of guests count. */
  client: { address: string; userAgent?: string; acceptLanguage?: string };
  /** Of the account, or of the browser while nobody is signed in. */
  texts: Texts;
  /** A hidden field for every form. */
  csrfField: Html;
}

/** A request for a page by a signed-in user. */
export interface UserPageContext extends PageContext {
  session: OpenedSession;
  viewer: Viewer;
  /** Of the profile; UTC if it has none. */
  timeZone: string;
  /** If a script shows the answer as it arrives. */
  stream?: AnswerStream;
}

/** Stops the handling of a request: the page of the error is sent instead. */
export class ActionFailed extends Error {
  readonly result: WebActionError;

  constructor(result: WebActionError) {
    super(result.error);
    this.result = result;
  }
}

/** Returns the data of an action, or stops the request with the page of its error. */
export function unwrap<D>(result: ActionSuccess<D> | WebActionError): D {
  if (!result.success) throw new ActionFailed(result);
  return result.data;
}

export interface Notice {
  kind: 'info' | 'warn';
  text: string;
}

/** A page that a handler shows. */
export interface Page {
  /** The text of its `<h1>`, and the first part of the title. */
  title: string;
  /** What follows the heading. */
  body: Html;
  /** Beside the heading: buttons. */
  aside?: Html | undefined;
  /** Below the heading. */
  subtitle?: Html | string | undefined;
  /** Above the heading: the way back. */
  breadcrumb?: { href: string; text: string } | undefined;
  status?: number;
  /** What a script gets at the end of the stream: the part of the page with the answer or the error. */
  answer?: Html;
  /** Whether the page refreshes itself when something changes. */
  isLive?: boolean;
  /** How many unseen runs this page has seen: they were counted before. */
  seen?: number;
  /** Addresses of scripts that improve this page. */
  scripts?: readonly string[];
}

/** Where a browser goes after a form was accepted. */
export interface Redirect {
  to: string;
  /** Shown once, on the next page. */
  notice?: Notice | undefined;
  /** `Set-Cookie` headers. */
  cookies?: readonly string[];
}

/** A file that the browser saves. */
export interface Download {
  /** Made by this application. */
  fileName: string;
  type: string;
  content: AsyncIterable<string>;
}

export type PageResponse = Page | Redirect | Download;

export const isDownload = (response: PageResponse): response is Download => 'fileName' in response;

export const isRedirect = (response: PageResponse): response is Redirect => 'to' in response;

/** A redirect with a notice. */
export const redirect = (to: string, text?: string): Redirect => ({
  to,
  notice: text === undefined ? undefined : { kind: 'info', text },
});
