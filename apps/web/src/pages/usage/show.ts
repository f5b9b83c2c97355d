import type { Texts } from '@carillon/texts';
import { type FormErrors, NO_ERRORS, renderSelect } from '../../components/fields.ts';
import { buildAddress } from '../../components/tables.ts';
import { type Html, html } from '../../html.ts';
import { readQuery } from '../../http/forms.ts';
import type { Page } from '../../page.ts';
import { type UserPageContext, unwrap } from '../../page.ts';
import { type AlertForm, DEFAULT_ALERT, renderAlerts } from './alerts.ts';
import { renderBreakdowns, renderRequests } from './breakdowns.ts';
import { renderDays } from './days.ts';
import { describeOutlook, renderNow, renderPast } from './figures.ts';
import { describePeriod, type Month, nameMonth } from './month.ts';

const renderMonthChoice = (texts: Texts, { months, period }: Month): Html | undefined =>
  months.length > 1
    ? html`<form class="sentence tools" method="get" action="/usage">${renderSelect({
        name: 'month',
        label: texts.usage.month,
        options: months.map((month) => ({ value: month, text: nameMonth(texts, month) })),
        value: period,
      })}<button>${texts.forms.apply}</button></form>`
    : undefined;

/** The page of a month. `form` is the form for an alert that was refused. */
export function renderUsage(
  context: UserPageContext,
  month: Month,
  form: { values: AlertForm; errors: FormErrors } = { values: DEFAULT_ALERT, errors: NO_ERRORS },
): Page {
  const { now, texts } = context;
  const { usage } = texts;
  const period = describePeriod(texts, month.period, now);
  const { isNow } = period;
  return {
    title: isNow ? usage.title : usage.titleOf(nameMonth(texts, month.period)),
    subtitle: isNow ? describeOutlook(context, month, period) : usage.monthIsOver,
    aside: renderMonthChoice(texts, month),
    breadcrumb: isNow ? undefined : { href: '/usage', text: usage.thisMonth },
    body: html`<section aria-labelledby="so-far"><div class="head"><h2 id="so-far">${
      isNow ? usage.soFar(period.name) : period.name
    }</h2>${isNow && html`<p>${usage.planHint}</p>`}</div>
${isNow ? renderNow(context, month, period) : renderPast(texts, month)}</section>
${renderDays(texts, month, period)}
${renderBreakdowns(texts, month)}
${month.days.length > 0 && html`<p class="fine"><a href="${buildAddress('/usage.csv', { month: month.period })}">${texts.lists.asCsv}</a></p>`}
${renderRequests(context, month, isNow)}
${isNow && renderAlerts(context, month, form.values, form.errors)}`,
  };
}

export async function showUsage(context: UserPageContext): Promise<Page> {
  const { actions, session, request } = context;
  const { month } = readQuery(request);
  return renderUsage(context, unwrap(await actions.getUsageMonth(session, month ? { month } : {})));
}
