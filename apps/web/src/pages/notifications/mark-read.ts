import { parseId } from '@carillon/contract/primitives';
import { type Redirect, redirect } from '../../answer.ts';
import { countWords } from '../../components/format.ts';
import { buildAddress } from '../../components/tables.ts';
import { readForm } from '../../http/forms.ts';
import { ActionStop, type SignedInVisit, unwrap } from '../../visit.ts';

/** The page of the list that the form was on. */
function describeList({ request }: SignedInVisit): string {
  const form = readForm(request);
  const show = form.text('show') === 'unread' ? 'unread' : undefined;
  return buildAddress('/notifications', { show, cursor: form.optional('cursor') });
}

export async function readNotification(visit: SignedInVisit): Promise<Redirect> {
  const { actions, session, request } = visit;
  const id = parseId((request.params as { id: string }).id);
  if (id === null) throw new ActionStop({ success: false, error: 'Notification not found', code: 'NOT_FOUND' });
  unwrap(await actions.readNotification(session, { id }));
  return { to: describeList(visit) };
}

export async function readAllNotifications(visit: SignedInVisit): Promise<Redirect> {
  const { actions, session, request } = visit;
  const until = parseId(readForm(request).text('until')) ?? 1;
  const { count, isComplete } = unwrap(await actions.readAllNotifications(session, { until }));
  const rest = isComplete ? '' : ' There are more: mark all once more.';
  const text = `${countWords(count, 'notification is', 'notifications are')} marked as read.${rest}`;
  return redirect('/notifications', text);
}
