import {
  type FormErrors,
  NO_ERRORS,
  renderFormError,
  renderInput,
  toFormErrors,
  toStatus,
} from '../../components/fields.ts';
import { nameWebhook } from '../../components/first-line.ts';
import { toLocalTime } from '../../components/schedule/local-time.ts';
import { html } from '../../html.ts';
import { readForm } from '../../http/forms.ts';
import { readUuid } from '../../http/path-ids.ts';
import { type Page, type Redirect, redirect, type UserPageContext, unwrap } from '../../page.ts';

async function renderPage(context: UserPageContext, day: string, errors: FormErrors): Promise<Page> {
  const { actions, session, csrfField, timeZone, now, texts } = context;
  const { webhooks, forms } = texts;
  const id = readUuid(context);
  const webhook = unwrap(await actions.getWebhook(session, { id }));
  const isOn = webhook.status === 'active';
  return {
    title: webhooks.resendTitle,
    breadcrumb: { href: `/webhooks/${id}`, text: nameWebhook(webhook) },
    body: html`<form class="panel gap form" method="post" action="/webhooks/${id}/redeliver">${csrfField}
${renderFormError(errors, texts)}
${!isOn && html`<div class="notice warn"><p>${webhooks.resendOff}</p></div>`}
<p>${webhooks.resendText(renderCode)}</p>
${renderInput({
  name: 'day',
  label: webhooks.failedSince,
  type: 'date',
  value: day,
  required: true,
  errors,
  hint: webhooks.failedSinceHint(timeZone),
  attributes: html`max="${toLocalTime(now, timeZone).date}"`,
})}
<div class="do"><button class="primary"${!isOn && html` disabled`}>${webhooks.resend}</button><a class="button quiet" href="/webhooks/${id}">${forms.cancel}</a></div>
</form>`,
  };
}

const renderCode = (text: string) => html`<code>${text}</code>`;

const DAY_MS = 86_400_000;

export const showRedeliverSince = (context: UserPageContext): Promise<Page> =>
  renderPage(context, toLocalTime(new Date(context.now.getTime() - DAY_MS), context.timeZone).date, NO_ERRORS);

export async function redeliverSince(context: UserPageContext): Promise<Page | Redirect> {
  const { actions, session, request, texts } = context;
  const id = readUuid(context);
  const day = readForm(request).text('day');
  const result = await actions.redeliverSince(session, { id, day });
  if (!result.success)
    return { ...(await renderPage(context, day, toFormErrors(result, texts))), status: toStatus(result) };
  const { count } = result.data;
  return redirect(`/webhooks/${id}`, count === 0 ? texts.webhooks.noneFailed : texts.webhooks.resending(count));
}
