import { type Redirect, redirect } from '../../answer.ts';
import { formatDuration } from '../../components/format.ts';
import { readForm } from '../../http/forms.ts';
import { type SignedInVisit, unwrap } from '../../visit.ts';
import { readId } from './address.ts';

export async function switchWebhook(visit: SignedInVisit): Promise<Redirect> {
  const { actions, session, request } = visit;
  const id = readId(visit);
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
export async function testWebhook(visit: SignedInVisit): Promise<Redirect> {
  const { actions, session } = visit;
  const id = readId(visit);
  const { success, statusCode, responseTime, error } = unwrap(await actions.testWebhook(session, { id }));
  const text = success
    ? `The test was delivered: the receiver answered ${statusCode} in ${formatDuration(responseTime)}.`
    : `The test was not delivered. ${error ?? ''}`;
  return { to: `/webhooks/${id}`, notice: { kind: success ? 'info' : 'warn', text } };
}
