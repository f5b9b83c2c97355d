import { SESSION_SECONDS } from '../auth/sessions.ts';
import type { Config } from '../config/config.ts';

/** The session cookie (specification "Accounts and sessions", rule 1). */
export const SESSION_COOKIE = 'local-session';

type Settings = Pick<Config, 'cookieSecure'>;

/** The `Set-Cookie` that gives the browser its session. `Secure` is left out only where the settings say so. */
export const sessionCookie = (settings: Settings, token: string) => setCookie(settings, token, SESSION_SECONDS);

/** The `Set-Cookie` that takes it away again. */
export const clearedCookie = (settings: Settings) => setCookie(settings, '', 0);

const setCookie = ({ cookieSecure }: Settings, value: string, maxAge: number) =>
  `${SESSION_COOKIE}=${value}; Path=/; HttpOnly; ${cookieSecure ? 'Secure; ' : ''}SameSite=Lax; Max-Age=${maxAge}`;
