declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether mail programs may send the form of the page: the secret in its address is enough. */
    isOneClick?: boolean;
    /** Whether what was typed is shown again where its session has ended. */
    keepsValues?: boolean;
    /** Whether a script may ask for the answer as it arrives. */
    streams?: boolean;
  }
}

/** The options of every route of the dashboard: it finds the session by itself, and is not a part of the API's document. */
export const PAGE_ROUTE = { config: { access: 'page' }, schema: { hide: true } } as const;

/** The same for a form that mail programs send. */
export const ONE_CLICK_ROUTE = { ...PAGE_ROUTE, config: { ...PAGE_ROUTE.config, isOneClick: true } } as const;

/** The same for a form whose answer may be a stream. */
export const ANSWER_ROUTE = { ...PAGE_ROUTE, config: { ...PAGE_ROUTE.config, streams: true } } as const;

/** The same for a long form. */
export const LONG_FORM_ROUTE = { ...PAGE_ROUTE, config: { ...ANSWER_ROUTE.config, keepsValues: true } } as const;
