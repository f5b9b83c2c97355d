import { createHmac } from 'node:crypto';
import type { Dashboard } from '@carillon/web/page';
import type { Context } from '../../../context.ts';
import {
  parseBrowserCookie,
  parseSessionCookie,
  parseTicketCookie,
  serializeBrowserCookie,
  serializeTicketCookie,
} from '../../../platform/http/credentials.ts';
import { handleError, prepareError } from '../../../platform/http/error-handler.ts';
import { abortOnHangUp, streamAnswer, wantsEvents } from '../../../platform/http/event-stream.ts';
import { serializeSession } from '../sessions.ts';
import { buildWebActions } from './build.ts';

/** What the service answers at `/` to programs. */
export const describeService = () => ({ name: 'Carillon', docs: '/api/docs', health: '/api/health' });

/** What the dashboard gets from the service: it has no other way to the data. */
export function buildDashboardOptions(ctx: Context): Dashboard {
  const { appUrl, baseUrl, cookieSecure, jwtSecret } = ctx.config;
  return {
    actions: buildWebActions(ctx),
    now: ctx.now,
    appUrl,
    assistantUrl: `${baseUrl}/mcp`,
    secureCookies: cookieSecure,
    signInProviders: [...ctx.oauth.keys()],
    serializeSession: (token) => serializeSession(ctx.config, token),
    readSession: parseSessionCookie,
    serializeTicket: (ticket) => serializeTicketCookie(ctx.config, ticket),
    readTicket: parseTicketCookie,
    serializeBrowser: (browser) => serializeBrowserCookie(ctx.config, browser),
    readBrowser: parseBrowserCookie,
    csrfKey: createHmac('sha256', jwtSecret).update('csrf tokens of the dashboard').digest('base64url'),
    prepareError,
    sendError: handleError,
    wantsEvents: ({ headers }) => wantsEvents(headers.accept),
    streamAnswer: (request, reply, work) => {
      const { signal } = abortOnHangUp(reply);
      return streamAnswer(request, reply, { keepAliveMs: 15_000 }, (onText) => work({ onText, signal }));
    },
    describeService,
  };
}
