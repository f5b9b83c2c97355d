import type { ActionSuccess } from '@carillon/contract/actions/index';
import type { OpenedSession, Viewer, WebActionError } from '@carillon/contract/actions/web/index';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import type { WebActions } from './actions.ts';
import type { Html } from './html.ts';

export interface Dashboard {
  actions: WebActions;
  now: () => Date;
  /** Without a slash at its end. */
  appUrl: string;
  /** Whether cookies are sent over https only. */
  secureCookies: boolean;
  /** The names of providers that accounts can sign in with, such as `github`. */
  signInProviders: readonly string[];
  /** The `Set-Cookie` header of a session; null clears it. */
  serializeSession(token: string | null): string;
  /** The token in a `Cookie` header; null if there is none, or several. */
  readSession(cookieHeader: string | undefined): string | null;
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
  /** What programs get at `/`. */
  describeService(): object;
}

/** One request for a page. */
export interface Visit {
  dashboard: Dashboard;
  actions: WebActions;
  request: FastifyRequest;
  reply: FastifyReply;
  /** The time of the request. */
  now: Date;
  /** The client that actions of guests count. */
  client: { address: string; userAgent?: string };
  /** A hidden field for every form. */
  csrfField: Html;
}

/** A request for a page by a signed-in user. */
export interface SignedInVisit extends Visit {
  session: OpenedSession;
  viewer: Viewer;
  /** Of the profile; UTC if it has none. */
  timeZone: string;
}

/** Stops the handling of a request: the page of the error is sent instead. */
export class ActionStop extends Error {
  readonly result: WebActionError;

  constructor(result: WebActionError) {
    super(result.error);
    this.result = result;
  }
}

/** Returns the data of an action, or stops the request with the page of its error. */
export function unwrap<D>(result: ActionSuccess<D> | WebActionError): D {
  if (!result.success) throw new ActionStop(result);
  return result.data;
}
