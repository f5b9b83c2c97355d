import { formatDuration } from '../../components/format.ts';
import { readForm } from '../../http/forms.ts';
import { type Redirect, redirect, type UserPageContext, unwrap } from '../../page.ts';
import { readId } from './address.ts';

export async function switchWebhook(context: UserPageContext): Promise<Redirect> {
  const { actions, session, request } = context;
  const id = readId(context);
  const isActive = readForm(request).text('isActive') === 'true';
  unwrap(await actions.changeWebhook(session, { id, isActive }));
  return redirect(
    `/webhooks/${id}`,
    isActive
      ? 'The webhook is on. What has waited is sent now; what failed before can be sent again.'
      : 'The webhook is off. What happens from now on is not sent, also not later.',
  );
}

/** Waits for the receiver, and says what it answered. */
export async function testWebhook(context: UserPageContext): Promise<Redirect> {
  const { actions, session } = context;
  const id = readId(context);
  const { success, statusCode, responseTime, error } = unwrap(await actions.testWebhook(session, { id }));
  const text = success
    ? `The test was delivered: the receiver answered ${statusCode} in ${formatDuration(responseTime)}.`
    : `The test was not delivered. ${error ?? ''}`;
  return { to: `/webhooks/${id}`, notice: { kind: success ? 'info' : 'warn', text } };
}
