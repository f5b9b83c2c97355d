declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether mail programs may send the form of the page: the secret in its address is enough. */
    isOneClick?: boolean;
  }
}

/** The options of every route of the dashboard: it finds the session by itself, and is not a part of the API's document. */
export const PAGE_ROUTE = { config: { access: 'page' }, schema: { hide: true } } as const;

/** The same for a form that mail programs send. */
export const ONE_CLICK_ROUTE = { ...PAGE_ROUTE, config: { ...PAGE_ROUTE.config, isOneClick: true } } as const;
