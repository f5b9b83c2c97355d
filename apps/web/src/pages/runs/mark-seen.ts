import { html } from '../../html.ts';
import { readForm } from '../../http/forms.ts';
import { type Redirect, redirect, toOwnPath, type UserPageContext, unwrap } from '../../page.ts';

/** The button that marks all runs as seen that have ended before the page was read. `back`: the page with the button. */
export const renderSeeAll = ({ viewer, csrfField, now, texts }: UserPageContext, back: string) =>
  viewer.unseenRuns > 0 &&
  html`<form method="post" action="/executions/seen">${csrfField}<input type="hidden" name="before" value="${now.toISOString()}"><input type="hidden" name="back" value="${back}"><button class="plain">${texts.runs.seeAll}</button></form>`;

export async function seeRuns(context: UserPageContext): Promise<Redirect> {
  const { actions, session, request, texts } = context;
  const form = readForm(request);
  const { seen } = unwrap(await actions.seeRuns(session, { before: form.text('before') }));
  return redirect(toOwnPath(form.text('back')), texts.runs.seen(seen));
}
