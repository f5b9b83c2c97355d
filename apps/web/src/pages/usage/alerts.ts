import { type FormErrors, renderFormError, renderInput } from '../../components/fields.ts';
import { renderCell, renderRow, renderRowHead, renderTable } from '../../components/tables.ts';
import { type Html, html, raw } from '../../html.ts';
import type { UserPageContext } from '../../page.ts';
import type { Month } from './month.ts';

type Alert = Month['alerts'][number];

/** What was typed. */
export interface TypedAlert {
  threshold: string;
  notifyEmail: boolean;
  notifyWebhook: boolean;
}

export const DEFAULT_ALERT: TypedAlert = { threshold: '80', notifyEmail: true, notifyWebhook: false };

const COLUMNS = [{ head: 'At' }, { head: 'Tells you by' }, { head: html`<span class="vh">Do</span>` }];

const describeChannels = ({ notifyEmail, notifyWebhook }: Alert) =>
  ['notification', notifyEmail && 'mail', notifyWebhook && 'webhook'].filter(Boolean).join(', ');

const renderAlert = ({ csrfField }: UserPageContext, alert: Alert): Html =>
  renderRow(
    renderRowHead(`${alert.threshold} %`),
    renderCell(describeChannels(alert)),
    renderCell(
      html`<form method="post" action="/usage/alerts/${alert.id}/remove">${csrfField}<button class="plain">Remove<span class="vh"> the alert at ${alert.threshold} %</span></button></form>`,
      { class: 'whole' },
    ),
  );

const renderTick = (name: string, text: string, isTicked: boolean) =>
  html`<label class="check"><input type="checkbox" name="${name}"${isTicked && raw(' checked')}>${text}</label>`;

/** Alerts at a share of a monthly limit, and a form for another one. */
export function renderAlerts(
  context: UserPageContext,
  { alerts }: Month,
  values: TypedAlert,
  errors: FormErrors,
): Html {
  return html`<section aria-labelledby="alerts"><div class="head"><h2 id="alerts">Usage alerts</h2><p>once a month each, for runs, tokens and storage</p></div>
<div class="halves">
${
  alerts.length > 0
    ? renderTable(
        'Usage alerts, the lowest first',
        COLUMNS,
        alerts.map((alert) => renderAlert(context, alert)),
      )
    : html`<p class="muted">No alert warns you yet when a limit comes near. Add one, such as one at 80 %.</p>`
}
<form class="panel gap" method="post" action="/usage/alerts">${context.csrfField}
<h3>Add an alert</h3>
${renderFormError(errors, context.texts)}
${renderInput({
  name: 'threshold',
  label: 'Percent of a monthly limit',
  type: 'number',
  value: values.threshold,
  required: true,
  errors,
  attributes: raw('min="1" max="100" step="1" inputmode="numeric"'),
  hint: 'An alert at the same percentage is replaced.',
})}
<fieldset><legend>Tell me by notification here, and</legend><div class="do">${renderTick('notifyEmail', 'by mail', values.notifyEmail)}${renderTick('notifyWebhook', 'by webhook', values.notifyWebhook)}</div></fieldset>
<button class="primary">Add alert</button>
</form></div></section>`;
}
