import type { Texts } from '@carillon/texts';
import { parseCookie } from 'cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Dashboard, Notice } from '../page.ts';

const NOTICE = 'notice';
const THEME = 'theme';

type Secured = Pick<Dashboard, 'secureCookies'>;

/** The options of every cookie of the dashboard. */
export const describeCookie = ({ secureCookies }: Secured) =>
  ({ path: '/', httpOnly: true, sameSite: 'lax', secure: secureCookies }) as const;

/** Keeps a notice for the next page. */
export function setNotice(reply: FastifyReply, secured: Secured, { kind, text }: Notice): void {
  const value = JSON.stringify([kind, text.slice(0, 500)]);
  reply.setCookie(NOTICE, value, { ...describeCookie(secured), maxAge: 60 });
}

/** Returns the notice that the page before has left, and removes it; null if there is none. */
export function takeNotice(request: FastifyRequest, reply: FastifyReply): Notice | null {
  const value = request.cookies[NOTICE];
  if (value === undefined) return null;
  reply.clearCookie(NOTICE, { path: '/' });
  try {
    const [kind, text] = JSON.parse(value);
    return typeof text === 'string' ? { kind: kind === 'warn' ? 'warn' : 'info', text } : null;
  } catch {
    return null;
  }
}

export type Theme = 'light' | 'dark';

/** Null for the theme of the system. */
export function readTheme({ headers }: FastifyRequest): Theme | null {
  const theme = parseCookie(headers.cookie ?? '')[THEME];
  return theme === 'light' || theme === 'dark' ? theme : null;
}

export const YEAR_SECONDS = 365 * 24 * 60 * 60;

export function setTheme(reply: FastifyReply, secured: Secured, theme: Theme | null): void {
  if (theme === null) reply.clearCookie(THEME, { path: '/' });
  else reply.setCookie(THEME, theme, { ...describeCookie(secured), maxAge: YEAR_SECONDS });
}

/** What helps where a browser refuses the cookies. */
export function explainCookies(appUrl: string, { forms }: Texts): string {
  const { protocol, origin } = new URL(appUrl);
  return protocol === 'https:' ? forms.allowCookies(origin) : forms.cookiesNeedHttps;
}

const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\]|.+\.localhost)$/;

/** Whether no browser keeps the cookies of this installation. */
export function areCookiesRefused({ appUrl, secureCookies }: Pick<Dashboard, 'appUrl' | 'secureCookies'>): boolean {
  const { protocol, hostname } = new URL(appUrl);
  return secureCookies && protocol === 'http:' && !LOOPBACK.test(hostname);
}
