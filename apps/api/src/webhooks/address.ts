import type { Context } from '../context.ts';
import { invalidField } from '../errors.ts';

/**
 * Throws 400 on `field` for an address that deliveries may not reach. Checks the URL only: what its host name resolves to
 * can change, so that is checked before each request.
 */
export function assertReachable(ctx: Context, field: string, url: string): void {
  const problem = ctx.http.checkAddress(url);
  if (problem !== null) throw invalidField(field, problem);
}
