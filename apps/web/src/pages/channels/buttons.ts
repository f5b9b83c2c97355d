import { formatDuration } from '../../components/format.ts';
import { readForm } from '../../http/forms.ts';
import { type Redirect, redirect, type UserPageContext, unwrap } from '../../page.ts';
import { readId } from '../webhooks/address.ts';

export async function switchChannel(context: UserPageContext): Promise<Redirect> {
  const { actions, session, request } = context;
  const id = readId(context);
  const isActive = readForm(request).text('isActive') === 'true';
  const { isConfirmed } = unwrap(await actions.changeChannel(session, { id, isActive }));
  if (!isActive) {
    return redirect(`/channels/${id}`, 'The channel is off. What happens from now on is not sent, also not later.');
  }
  return redirect(
    `/channels/${id}`,
    isConfirmed
      ? 'The channel is on. What has waited is sent now; what failed before can be sent again.'
      : 'The channel is on. Its address gets a mail with a link first.',
  );
}

/** Mails another link to an address that is not confirmed. */
export async function confirmChannel(context: UserPageContext): Promise<Redirect> {
  const { actions, session } = context;
  const id = readId(context);
  const { isConfirmed } = unwrap(await actions.changeChannel(session, { id, isActive: true }));
  return redirect(
    `/channels/${id}`,
    isConfirmed
      ? 'The address is confirmed already.'
      : 'Another link goes to the address, and ends the one before. An address gets at most 5 a day.',
  );
}

/** Waits for the target, and says what it answered. */
export async function testChannel(context: UserPageContext): Promise<Redirect> {
  const { actions, session } = context;
  const id = readId(context);
  const result = await actions.testChannel(session, { id });
  // The address may have been changed since the page was opened.
  if (!result.success && result.code === 'CONFLICT') {
    return { to: `/channels/${id}`, notice: { kind: 'warn', text: `No test was sent. ${result.error}` } };
  }
  const { success, statusCode, responseTime, error } = unwrap(result);
  const answer = statusCode === null ? 'it was accepted' : `the target answered ${statusCode}`;
  const text = success
    ? `The test was delivered: ${answer} in ${formatDuration(responseTime)}.`
    : `The test was not delivered. ${error ?? ''}`;
  return { to: `/channels/${id}`, notice: { kind: success ? 'info' : 'warn', text } };
}

export async function redeliverMessage(context: UserPageContext): Promise<Redirect> {
  const { actions, session } = context;
  const id = readId(context);
  const deliveryId = readId(context, 'deliveryId');
  unwrap(await actions.redeliverMessage(session, { id, deliveryId }));
  return redirect(`/channels/${id}`, 'The message is sent now.');
}
