import type { Context } from '../../../context.ts';
import { invalidField } from '../../../errors.ts';

/** Checks the URL only: its host is resolved and checked before each request. */
export function assertReachable(ctx: Context, field: string, url: string): void {
  const problem = ctx.http.checkAddress(url);
  if (problem !== null) throw invalidField(field, problem);
}
