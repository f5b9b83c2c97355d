import type { Context } from '../context.ts';
import { decrypt, encrypt } from '../crypto/encryption.ts';
import type { OAuthFlow } from '../third-party/oauth.ts';

const LIFETIME_S = 600;

/** The cookie that ties the two steps of a sign-in to one browser. */
export const FLOW_COOKIE = 'oauth-flow';

/**
 * The `Set-Cookie` that keeps a flow in the browser, sealed and for ten minutes. Bound to its provider: the answer of
 * one is no answer of another.
 */
export function keepFlow(ctx: Context, provider: string, flow: OAuthFlow): string {
  const until = ctx.now().getTime() + LIFETIME_S * 1000;
  const value = encrypt(ctx.config.encryptionKeys, JSON.stringify({ ...flow, until }), placeOf(provider));
  return setCookie(ctx, value, LIFETIME_S);
}

/** The flow that the cookie carries; null when it is missing, over, changed, or of another provider. */
export function findFlow(ctx: Context, provider: string, cookie: string | undefined): OAuthFlow | null {
  if (!cookie) return null;
  try {
    const { until, ...flow } = JSON.parse(decrypt(ctx.config.encryptionKeys, cookie, placeOf(provider)));
    return until > ctx.now().getTime() ? flow : null;
  } catch {
    return null;
  }
}

/** The `Set-Cookie` that forgets the flow: it is good for one callback. */
export const dropFlow = (ctx: Context): string => setCookie(ctx, '', 0);

const placeOf = (provider: string) => `oauth-flow:${provider}`;

// Lax: the browser comes back from another site, by a plain navigation.
const setCookie = ({ config }: Context, value: string, maxAge: number) =>
  `${FLOW_COOKIE}=${value}; Path=/api/auth/oauth; HttpOnly; ${config.cookieSecure ? 'Secure; ' : ''}SameSite=Lax; Max-Age=${maxAge}`;
