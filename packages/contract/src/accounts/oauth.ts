import { Type } from '@sinclair/typebox';
import { describedErrors, errorResponses, type Operation, PUBLIC } from '../operation.ts';

export const OAUTH_PROVIDERS = ['google', 'github', 'oidc'] as const;
export type OAuthProviderName = (typeof OAUTH_PROVIDERS)[number];

// Any string: an unknown provider is not found rather than invalid.
const params = Type.Object({ provider: Type.String({ description: OAUTH_PROVIDERS.join(', ') }) });
const redirect = (description: string) => Type.Null({ description });

export const startOAuth = {
  operationId: 'startOAuth',
  summary: 'Start an OAuth sign-in',
  description:
    'For browsers: redirects to the provider, which redirects back to the callback. After the sign-in the browser goes on to `next`, a path of the web application.',
  tags: ['auth'],
  security: PUBLIC,
  params,
  // Any string: what is no own path is left out.
  querystring: Type.Object({ next: Type.Optional(Type.String({ description: 'A path of the web application' })) }),
  response: {
    302: redirect('To the provider'),
    ...errorResponses(429),
    ...describedErrors({ 404: 'The provider is not configured' }),
  },
} satisfies Operation;

export const finishOAuth = {
  operationId: 'finishOAuth',
  summary: 'Finish an OAuth sign-in',
  description:
    'The callback of the provider. Sets the session cookie and redirects to `APP_URL`. An existing account with the same e-mail address is linked only if the provider has verified the address. With `Accept: text/html`, a failed sign-in, or one that needs a second factor, redirects to the sign-in page.',
  tags: ['auth'],
  security: PUBLIC,
  params,
  response: {
    302: redirect('To the web application: signed in, or to its sign-in page'),
    ...errorResponses(429),
    ...describedErrors({
      400: 'The sign-in was not started here, has expired, or was not confirmed by the provider',
      401: 'The installation demands a second factor, or the account with this address has one and is not linked yet: `SECOND_FACTOR_REQUIRED`, as for `login`',
      403: 'The provider has not verified the address, or the account is deactivated',
      404: 'The provider is not configured',
    }),
  },
} satisfies Operation;
