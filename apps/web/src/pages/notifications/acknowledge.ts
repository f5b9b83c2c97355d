import { readForm } from '../../http/forms.ts';
import { readId } from '../../http/path-ids.ts';
import { type Redirect, redirect, toOwnPath, type UserPageContext, unwrap } from '../../page.ts';
import { readIds } from '../tasks/changes.ts';

/** Puts a cause of the home page away until it changes, for each of its tasks. */
export async function acknowledgeCause(context: UserPageContext): Promise<Redirect> {
  const { actions, session, request, texts } = context;
  const form = readForm(request);
  const cause = form.text('cause');
  const ids = readIds(form.list('id'));
  const { acknowledged } = unwrap(await actions.acknowledgeTasks(session, { ids, cause }));
  return acknowledged === ids.length
    ? redirect('/', texts.home.acknowledged)
    : { to: '/', notice: { kind: 'warn', text: texts.home.notAcknowledged } };
}

/** The same from the list of alerts. */
export async function acknowledgeAlert(context: UserPageContext): Promise<Redirect> {
  const { actions, session, request, texts } = context;
  unwrap(await actions.acknowledgeAlert(session, { id: readId(context) }));
  return redirect(toOwnPath(readForm(request).text('back')), texts.home.acknowledged);
}

/** Mails another link to an address that waits for its confirmation. */
export async function requestConfirmation(context: UserPageContext): Promise<Redirect> {
  const { actions, session, request, texts } = context;
  unwrap(await actions.requestConfirmation(session, { email: readForm(request).text('email') }));
  return redirect('/', texts.channels.linkSent);
}
