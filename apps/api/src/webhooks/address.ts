import type { Context } from '../context.ts';
import { invalidField } from '../errors.ts';

/**
 * Refuses an address that deliveries may not reach, as an error of `field` (400). Only the address itself is looked at:
 * what its name leads to may be another host tomorrow, and is checked each time.
 */
export function assertReachable(ctx: Context, field: string, url: string): void {
  const problem = ctx.http.checkAddress(url);
  if (problem !== null) throw invalidField(field, problem);
}
