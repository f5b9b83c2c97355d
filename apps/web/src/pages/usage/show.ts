import { type FormErrors, NO_ERRORS, renderSelect } from '../../components/fields.ts';
import { type Html, html } from '../../html.ts';
import { readQuery } from '../../http/forms.ts';
import type { Page } from '../../page.ts';
import { type UserPageContext, unwrap } from '../../page.ts';
import { DEFAULT_ALERT, renderAlerts, type TypedAlert } from './alerts.ts';
import { renderBreakdowns, renderRequests } from './breakdowns.ts';
import { renderDays } from './days.ts';
import { describeOutlook, renderNow, renderPast } from './figures.ts';
import { describePeriod, type Month, nameMonth } from './month.ts';

const renderMonthChoice = ({ months, period }: Month): Html | undefined =>
  months.length > 1
    ? html`<form class="sentence tools" method="get" action="/usage">${renderSelect({
        name: 'month',
        label: 'Month',
        options: months.map((month) => ({ value: month, text: nameMonth(month) })),
        value: period,
      })}<button>Show</button></form>`
    : undefined;

/** The page of a month. `form` is the form for an alert that was refused. */
export function renderUsage(
  context: UserPageContext,
  month: Month,
  form: { values: TypedAlert; errors: FormErrors } = { values: DEFAULT_ALERT, errors: NO_ERRORS },
): Page {
  const { now } = context;
  const period = describePeriod(month.period, now);
  const { isNow } = period;
  return {
    title: isNow ? 'Usage' : `Usage in ${nameMonth(month.period)}`,
    subtitle: isNow ? describeOutlook(month, period, now) : 'This month is over.',
    aside: renderMonthChoice(month),
    breadcrumb: isNow ? undefined : { href: '/usage', text: 'Usage of this month' },
    body: html`<section aria-labelledby="so-far"><div class="head"><h2 id="so-far">${
      isNow ? `${period.name} so far` : period.name
    }</h2>${isNow && html`<p>of what the plan allows; the month ends at midnight UTC</p>`}</div>
${isNow ? renderNow(month, period, now) : renderPast(month)}</section>
${renderDays(month, period)}
${renderBreakdowns(month)}
${renderRequests(context, month, isNow)}
${isNow && renderAlerts(context, month, form.values, form.errors)}`,
  };
}

export async function showUsage(context: UserPageContext): Promise<Page> {
  const { actions, session, request } = context;
  const { month } = readQuery(request);
  return renderUsage(context, unwrap(await actions.getUsageMonth(session, month ? { month } : {})));
}
