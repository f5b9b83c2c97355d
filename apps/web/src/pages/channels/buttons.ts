import { translateApiMessage } from '@carillon/texts';
import { readForm } from '../../http/forms.ts';
import { readUuid } from '../../http/path-ids.ts';
import { type Redirect, redirect, type UserPageContext, unwrap } from '../../page.ts';
import { describeTest } from '../webhooks/buttons.ts';

export async function switchChannel(context: UserPageContext): Promise<Redirect> {
  const { actions, session, request, texts } = context;
  const { channels } = texts;
  const id = readUuid(context);
  const isActive = readForm(request).text('isActive') === 'true';
  const { isConfirmed } = unwrap(await actions.changeChannel(session, { id, isActive }));
  if (!isActive) {
    return redirect(`/channels/${id}`, channels.switchedOff);
  }
  return redirect(`/channels/${id}`, isConfirmed ? channels.switchedOn : channels.switchedOnUnconfirmed);
}

/** Mails another link to an address that is not confirmed. */
export async function confirmChannel(context: UserPageContext): Promise<Redirect> {
  const { actions, session, texts } = context;
  const id = readUuid(context);
  const { isConfirmed } = unwrap(await actions.changeChannel(session, { id, isActive: true }));
  return redirect(`/channels/${id}`, isConfirmed ? texts.channels.alreadyConfirmed : texts.channels.linkSent);
}

/** Waits for the target, and says what it answered. */
export async function testChannel(context: UserPageContext): Promise<Redirect> {
  const { actions, session, texts } = context;
  const id = readUuid(context);
  const result = await actions.testChannel(session, { id });
  // The address may have been changed since the page was opened.
  if (!result.success && result.code === 'CONFLICT') {
    return {
      to: `/channels/${id}`,
      notice: { kind: 'warn', text: texts.channels.noTest(translateApiMessage(result.error, texts)) },
    };
  }
  return { to: `/channels/${id}`, notice: describeTest(context, unwrap(result)) };
}

export async function redeliverMessage(context: UserPageContext): Promise<Redirect> {
  const { actions, session, texts } = context;
  const id = readUuid(context);
  const deliveryId = readUuid(context, 'deliveryId');
  unwrap(await actions.redeliverMessage(session, { id, deliveryId }));
  return redirect(`/channels/${id}`, texts.channels.resent);
}
