/** The options of every route of the dashboard: it finds the session by itself, and is not a part of the API's document. */
export const PAGE_ROUTE = { config: { access: 'page' }, schema: { hide: true } } as const;
