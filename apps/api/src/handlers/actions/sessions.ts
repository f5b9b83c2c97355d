import { ACTION_INPUTS } from '@carillon/contract/actions/index';
import type { Config } from '../../lib/config/config.ts';
import { serializeSessionCookie } from '../../platform/http/credentials.ts';
import { findRateLimit } from '../../platform/limits/rates.ts';
import { SESSION_SECONDS } from '../../product/auth/sessions.ts';
import { logIn, logOut, register } from '../../product/auth/write.ts';
import type { ActionBuilder } from './create-action.ts';
import { readInput } from './input.ts';

const LOGIN = findRateLimit('POST', '/api/auth/login', 'public');
const REGISTER = findRateLimit('POST', '/api/auth/register', 'public');

export const sessionActions = ({ user, guest }: ActionBuilder) => ({
  login: guest(
    'login',
    { rate: LOGIN, duringMaintenance: true },
    readInput(ACTION_INPUTS.login),
    async (ctx, input) => {
      const { user, token, expiresAt } = await logIn(ctx, input);
      return { session: token, expiresAt: expiresAt.toISOString(), user: { ...user, id: String(user.id) } };
    },
  ),

  register: guest('register', { rate: REGISTER }, readInput(ACTION_INPUTS.register), async (ctx, input) => {
    const { id, email, name, createdAt } = await register(ctx, input);
    return { id: String(id), email, name, createdAt: createdAt.toISOString() };
  }),

  logout: user('logout', [], async ({ ctx, caller }) => {
    await logOut(ctx, caller);
    return null;
  }),
});

/** The `Set-Cookie` header that keeps a session in the browser; null clears it. */
export const serializeSession = (config: Pick<Config, 'cookieSecure'>, session: string | null): string =>
  serializeSessionCookie(config, session ?? '', session === null ? 0 : SESSION_SECONDS);
