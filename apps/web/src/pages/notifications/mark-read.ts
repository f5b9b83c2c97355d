import { parseId } from '@carillon/contract/validation/formats';
import { buildAddress } from '../../components/tables.ts';
import { readForm } from '../../http/forms.ts';
import { readId } from '../../http/path-ids.ts';
import { type Redirect, redirect, type UserPageContext, unwrap } from '../../page.ts';

/** The page of the list that the form was on. */
function describeList({ request }: UserPageContext): string {
  const form = readForm(request);
  const show = form.text('show') === 'unread' ? 'unread' : undefined;
  return buildAddress('/notifications', { show, cursor: form.optional('cursor') });
}

export async function readNotification(context: UserPageContext): Promise<Redirect> {
  const { actions, session } = context;
  const id = readId(context);
  unwrap(await actions.readNotification(session, { id }));
  return { to: describeList(context) };
}

export async function readAllNotifications(context: UserPageContext): Promise<Redirect> {
  const { actions, session, request, texts } = context;
  const until = parseId(readForm(request).text('until')) ?? 1;
  const { count, isComplete } = unwrap(await actions.readAllNotifications(session, { until }));
  return redirect('/notifications', texts.notifications.marked(count, isComplete));
}
