import { type FormErrors, renderFormError, renderInput } from '../../components/fields.ts';
import { renderCell, renderRow, renderRowHead, renderTable } from '../../components/tables.ts';
import { type Html, html, raw } from '../../html.ts';
import type { UserPageContext } from '../../page.ts';
import type { Month } from './month.ts';

type Alert = Month['alerts'][number];

/** The fields of the form. */
export interface AlertForm {
  threshold: string;
  notifyEmail: boolean;
  notifyWebhook: boolean;
}

export const DEFAULT_ALERT: AlertForm = { threshold: '80', notifyEmail: true, notifyWebhook: false };

function renderAlert({ csrfField, texts: { usage, formats } }: UserPageContext, alert: Alert): Html {
  const { ways } = usage;
  const percent = formats.percent(alert.threshold / 100);
  return renderRow(
    renderRowHead(percent),
    renderCell(
      [ways.notification, alert.notifyEmail && ways.mail, alert.notifyWebhook && ways.webhook]
        .filter(Boolean)
        .join(', '),
    ),
    renderCell(
      html`<form method="post" action="/usage/alerts/${alert.id}/remove">${csrfField}<button class="plain">${usage.remove}<span class="vh">${usage.removeAlert(percent)}</span></button></form>`,
      { class: 'whole' },
    ),
  );
}

const renderTick = (name: string, text: string, isTicked: boolean) =>
  html`<label class="check"><input type="checkbox" name="${name}"${isTicked && raw(' checked')}>${text}</label>`;

/** Alerts at a share of a monthly limit, and a form for another one. */
export function renderAlerts(context: UserPageContext, { alerts }: Month, values: AlertForm, errors: FormErrors): Html {
  const { usage, lists } = context.texts;
  const columns = [
    { head: usage.threshold },
    { head: usage.sentBy },
    { head: html`<span class="vh">${lists.actions}</span>` },
  ];
  return html`<section aria-labelledby="alerts"><div class="head"><h2 id="alerts">${usage.alerts}</h2><p>${usage.alertsHint}</p></div>
<div class="halves">
${
  alerts.length > 0
    ? renderTable(
        usage.alertsTable,
        columns,
        alerts.map((alert) => renderAlert(context, alert)),
      )
    : html`<p class="muted">${usage.noAlerts}</p>`
}
<form class="panel gap" method="post" action="/usage/alerts">${context.csrfField}
<h3>${usage.addAlert}</h3>
${renderFormError(errors, context.texts)}
${renderInput({
  name: 'threshold',
  label: usage.percentLabel,
  type: 'number',
  value: values.threshold,
  required: true,
  errors,
  attributes: raw('min="1" max="100" step="1" inputmode="numeric"'),
  hint: usage.percentHint,
})}
<fieldset><legend>${usage.notifyBy}</legend><div class="do">${renderTick('notifyEmail', usage.byMail, values.notifyEmail)}${renderTick('notifyWebhook', usage.byWebhook, values.notifyWebhook)}</div></fieldset>
<button class="primary">${usage.add}</button>
</form></div></section>`;
}
