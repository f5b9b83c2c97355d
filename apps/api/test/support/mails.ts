import { composeReset } from '../../src/auth/password-reset.ts';
import type { Context } from '../../src/context.ts';
import * as mail from '../../src/mail/deliver.ts';

/** Delivers due mails as the worker does. */
export const deliverDueMails = (ctx: Context, options: { graceMs?: number } = {}) =>
  mail.deliverDueMails(ctx, { composeReset: (address) => composeReset(ctx, address), ...options });
