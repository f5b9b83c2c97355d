import type { Context } from '../context.ts';

/**
 * Makes of `read` a function that standbys may answer: with all changes of the requester, other changes with a delay of at
 * most `DATABASE_READ_MAX_LAG_MS`. In a transaction and without standbys it is `read`.
 */
export const fromReplica =
  <A extends unknown[], T>(read: (ctx: Context, ...args: A) => Promise<T>) =>
  (ctx: Context, ...args: A): Promise<T> => {
    const { replica } = ctx.db;
    if (!replica || !ctx.requester) return read(ctx, ...args);
    return replica.read(ctx.requester, (db) => read({ ...ctx, db }, ...args));
  };

/**
 * The same for a list of rows of all users. Further pages come from the primary, because nothing says whether a standby has
 * all that the page before was read from, and then rows could be skipped.
 */
export const firstPageFromReplica = <Q extends { cursor?: string }, T>(
  read: (ctx: Context, query: Q) => Promise<T>,
) => {
  const readFromReplica = fromReplica(read);
  return (ctx: Context, query: Q): Promise<T> => (query.cursor === undefined ? readFromReplica : read)(ctx, query);
};
