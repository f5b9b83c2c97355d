import {
  type FormErrors,
  NO_ERRORS,
  renderFormError,
  renderInput,
  toFormErrors,
  toStatus,
} from '../../components/fields.ts';
import { countWords } from '../../components/format.ts';
import { html } from '../../html.ts';
import { readForm } from '../../http/forms.ts';
import { type Page, type Redirect, redirect, type UserPageContext, unwrap } from '../../page.ts';
import { hostOf, readId } from './address.ts';

const toDay = (at: Date, timeZone: string) =>
  new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short' }).format(at);

async function renderPage(context: UserPageContext, day: string, errors: FormErrors): Promise<Page> {
  const { actions, session, csrfField, timeZone, now } = context;
  const id = readId(context);
  const { url, status } = unwrap(await actions.getWebhook(session, { id }));
  const isOn = status === 'active';
  return {
    title: 'Send failed deliveries again',
    breadcrumb: { href: `/webhooks/${id}`, text: hostOf(url) },
    body: html`<form class="panel gap form" method="post" action="/webhooks/${id}/redeliver">${csrfField}
${renderFormError(errors, context.texts)}
${!isOn && html`<div class="notice warn"><p>The webhook is off. Switch it on first: then failed deliveries can be sent again.</p></div>`}
<p>Each delivery of which all attempts have failed is sent once more, with the same body and the same <code>webhook-id</code>. Failed deliveries are kept for 30 days unless the server is set otherwise.</p>
${renderInput({
  name: 'day',
  label: 'Failed since',
  type: 'date',
  value: day,
  required: true,
  errors,
  hint: `From the start of this day in ${timeZone}.`,
  attributes: html`max="${toDay(now, timeZone)}"`,
})}
<div class="do"><button class="primary"${!isOn && html` disabled`}>Send them again</button><a class="button quiet" href="/webhooks/${id}">Cancel</a></div>
</form>`,
  };
}

const DAY_MS = 86_400_000;

export const showRedeliverSince = (context: UserPageContext): Promise<Page> =>
  renderPage(context, toDay(new Date(context.now.getTime() - DAY_MS), context.timeZone), NO_ERRORS);

export async function redeliverSince(context: UserPageContext): Promise<Page | Redirect> {
  const { actions, session, request } = context;
  const id = readId(context);
  const day = readForm(request).text('day');
  const result = await actions.redeliverSince(session, { id, day });
  if (!result.success)
    return { ...(await renderPage(context, day, toFormErrors(result, context.texts))), status: toStatus(result) };
  const { count } = result.data;
  return redirect(
    `/webhooks/${id}`,
    count === 0
      ? 'No delivery has failed since then.'
      : `${countWords(count, 'delivery is', 'deliveries are')} sent again.`,
  );
}
