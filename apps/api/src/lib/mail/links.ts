import type { Config } from '../config/config.ts';

interface LinkContext {
  config: Pick<Config, 'appUrl'>;
}

// Not from the request, because the sender chooses its Host header.
const buildLink = ({ config }: LinkContext, page: string, token: string) => `${config.appUrl}/handler/${page}/${token}`;

export const buildResetLink = (ctx: LinkContext, token: string): string => buildLink(ctx, 'reset-password', token);

export const buildConfirmationLink = (ctx: LinkContext, token: string): string =>
  buildLink(ctx, 'confirm-email', token);

/** Ends the mails of a channel, by one click of a mail program too. */
export const buildUnsubscribeLink = ({ config }: LinkContext, token: string): string =>
  `${config.appUrl}/unsubscribe/${token}`;

/** The link that a text asks to open, for the log in development. */
export const findLink = (text: string): string | undefined =>
  /^https?:\/\/\S+\/handler\/[a-z-]+\/[0-9a-f]{64}$/m.exec(text)?.[0];
