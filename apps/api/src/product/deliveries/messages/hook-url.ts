import type { Context } from '../../../context.ts';
import { invalidField } from '../../../errors.ts';
import type { ChannelSender, ChannelSettings } from './sender.ts';

/** What the kinds share whose only setting is the address of a hook, which is a secret as a whole. */
export const HOOK: Pick<ChannelSender, 'fields' | 'check' | 'show'> = {
  fields: ['url'],
  check: (ctx, settings) => checkUrl(ctx, settings),
  show: ({ url }) => ({ shown: { host: new URL(url as string).host }, url: new URL(url as string).origin }),
};

/** Throws 400 for an address that is missing or that nothing may be sent to. */
export function checkUrl(ctx: Context, { url }: ChannelSettings): void {
  const problem = url === undefined ? 'is required' : ctx.http.checkAddress(url);
  if (problem !== null) throw invalidField('url', problem);
}
