import { Type } from '@sinclair/typebox';
import { describedErrors, errorResponses, type Operation, PUBLIC } from './operation.ts';

/** Specification "Authentication" 3: sign-in with external providers; decisions §3. */

export const OAUTH_PROVIDERS = ['google', 'github', 'oidc'] as const;
export type OAuthProviderName = (typeof OAUTH_PROVIDERS)[number];

// Any text, so that a provider that does not exist is not found rather than not valid.
const params = Type.Object({ provider: Type.String({ description: OAUTH_PROVIDERS.join(', ') }) });
const redirect = (description: string) => Type.Null({ description });

export const startOAuth = {
  operationId: 'startOAuth',
  summary: 'Begin to sign in at an external provider',
  description: 'For a browser: goes to the provider and comes back to the callback.',
  tags: ['auth'],
  security: PUBLIC,
  params,
  response: {
    302: redirect('To the provider'),
    ...errorResponses(429),
    ...describedErrors({ 404: 'The installation has no such provider' }),
  },
} satisfies Operation;

export const finishOAuth = {
  operationId: 'finishOAuth',
  summary: 'Where the provider sends the browser back to',
  description:
    'Sets the session cookie and goes on to `APP_URL`. An account with the same e-mail address is linked only where the provider has verified the address.',
  tags: ['auth'],
  security: PUBLIC,
  params,
  response: {
    302: redirect('To the web application, signed in'),
    ...errorResponses(429),
    ...describedErrors({
      400: 'The sign-in was not begun here, took too long, or was not confirmed by the provider',
      403: 'The provider has not verified the address, or the account is deactivated',
      404: 'The installation has no such provider',
    }),
  },
} satisfies Operation;
