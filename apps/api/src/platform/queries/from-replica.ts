import type { Context } from '../../context.ts';

/**
 * Makes of `read` a function that standbys may answer, with a delay of at most `DATABASE_READ_MAX_LAG_MS`: for statistics,
 * exports and reports of administrators. In a transaction and without standbys it is `read`.
 */
export const fromReplica =
  <A extends unknown[], T>(read: (ctx: Context, ...args: A) => Promise<T>) =>
  (ctx: Context, ...args: A): Promise<T> => {
    const { replica } = ctx.db;
    return replica ? replica.read((db) => read({ ...ctx, db }, ...args)) : read(ctx, ...args);
  };
