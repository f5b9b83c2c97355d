import { normalizeEmail } from '@carillon/contract/validation/formats';
import { endpoints, notificationAddresses, users } from '@carillon/db';
import { and, eq, isNotNull, or } from 'drizzle-orm';
import type { Context } from '../../../../context.ts';
import { invalidField } from '../../../../errors.ts';
import { hashLinkToken } from '../../../../lib/crypto/tokens.ts';
import { buildUnsubscribeLink } from '../../../../lib/mail/links.ts';
import type { MailOutcome } from '../../../../lib/mail/transport.ts';
import { cleanLine } from '../format/text.ts';
import { composeMail, toSubject } from '../mail/compose.ts';
import { renderHtml } from '../mail/html-part.ts';
import { renderText } from '../mail/text-part.ts';
import type { ChannelSender, ChannelSettings, OutgoingMessage, SendOutcome } from '../sender.ts';

/** Sends mails through the mail server of the operator, with a link that ends them. */
export const email: ChannelSender = {
  title: 'E-mail',
  fields: ['address'],

  check(_ctx, { address }) {
    if (!address) throw invalidField('address', 'is required for e-mail');
  },

  show({ address = '' }) {
    const normalized = normalizeEmail(address);
    return { shown: { address: normalized }, url: `mailto:${normalized}` };
  },

  async send(ctx, settings, outgoing) {
    try {
      return await sendMail(ctx, settings, outgoing);
    } catch (error) {
      ctx.log.error({ err: error, deliveryId: outgoing.id }, 'composing a mail of a channel failed');
      return { kind: 'not_sent', status: null, error: 'Nothing was sent: something went wrong on our side.' };
    }
  },
};

async function sendMail(ctx: Context, settings: ChannelSettings, outgoing: OutgoingMessage): Promise<SendOutcome> {
  const { address = '', unsubscribeToken = '' } = settings;
  const { id, channelId, message, signal } = outgoing;
  const to = normalizeEmail(address);
  const owner = await findOwner(ctx, { channelId, to, unsubscribeToken });
  if (owner === null) return UNWANTED;
  const unsubscribeUrl = buildUnsubscribeLink(ctx, unsubscribeToken);
  const footer = { account: owner.email, channel: cleanLine(owner.channel ?? ''), unsubscribeUrl };
  const mail = composeMail(message, footer);
  const outcome = await ctx.mail.send(
    {
      id,
      at: ctx.now(),
      to,
      subject: toSubject(message),
      text: renderText(mail),
      html: renderHtml(mail),
      headers: {
        'List-Unsubscribe': `<${unsubscribeUrl}>`,
        'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
      },
    },
    signal,
  );
  return !outcome.ok && signal?.aborted ? STOPPED : toOutcome(ctx, id, outcome);
}

interface Receiver {
  channelId: string;
  to: string;
  unsubscribeToken: string;
}

/** Asked before each mail, because the address may have unsubscribed since the delivery was written. */
async function findOwner(ctx: Context, { channelId, to, unsubscribeToken }: Receiver) {
  const isVerifiedOwn = and(eq(users.email, to), isNotNull(users.emailVerifiedAt));
  const [owner] = await ctx.db
    .select({ email: users.email, channel: endpoints.name })
    .from(endpoints)
    .innerJoin(users, and(eq(users.id, endpoints.userId), users.isActive))
    .leftJoin(
      notificationAddresses,
      and(eq(notificationAddresses.userId, users.id), eq(notificationAddresses.email, to)),
    )
    .where(
      and(
        eq(endpoints.id, channelId),
        eq(endpoints.unsubscribeHash, hashLinkToken(unsubscribeToken)),
        or(isNotNull(notificationAddresses.confirmedAt), isVerifiedOwn),
      ),
    );
  return owner ?? null;
}

const UNWANTED: SendOutcome = {
  kind: 'not_sent',
  status: null,
  error: 'Nothing was sent: the address is not confirmed.',
  isGone: true,
};

const STOPPED: SendOutcome = { kind: 'aborted', status: null, error: 'The mail was stopped before it was sent.' };

/** The channel's owner sees no host of the operator's network; the log has the whole error. */
function toOutcome(ctx: Context, id: string, outcome: MailOutcome): SendOutcome {
  if (outcome.ok) return { kind: 'mailed', status: null, error: null };
  const { error, permanent } = outcome;
  ctx.log.warn({ deliveryId: id, reason: error }, 'mail of a channel not sent');
  const shown = /^[45]\d\d[ -]/.test(error)
    ? `The mail server answered: ${error}`
    : 'The mail server could not be reached, or did not answer.';
  return { kind: 'mailed', status: null, error: shown, ...(permanent && { isGone: true }) };
}
