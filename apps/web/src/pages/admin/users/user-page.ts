import type { Texts } from '@carillon/texts';
import type { WebActionData } from '../../../actions.ts';
import { type FormErrors, renderFormError, renderInput, renderSelect } from '../../../components/fields.ts';
import { formatLocalTime } from '../../../components/schedule/local-time.ts';
import { renderOutcome } from '../../../components/status-icon.ts';
import { renderCell, renderRow, renderRowHead, renderTable } from '../../../components/tables.ts';
import { renderMoment, renderMomentOn, renderMomentWithDistance } from '../../../components/times.ts';
import { type Html, html } from '../../../html.ts';
import type { Page, UserPageContext } from '../../../page.ts';
import { describeTrialEnd } from '../../settings/coupon.ts';
import { describeUserAgent } from '../../settings/user-agents.ts';
import { describeDetails, describeEvent } from '../audit-details.ts';
import { renderKept } from '../requests.ts';

export type Account = WebActionData<'getAccount'>;

/** What the forms of the page show. */
export interface FilledForms {
  values: { role: string; plan: string; trialEndsAt: string };
  errors: FormErrors;
  days: string;
  trialErrors: FormErrors;
  isKept: boolean;
}

export const toOptions = (names: Readonly<Record<string, string>>) =>
  Object.entries(names).map(([value, text]) => ({ value, text }));

export const renderAccountState = (isActive: boolean, { accounts: { states } }: Texts): Html =>
  isActive ? renderOutcome('ran', states.active) : renderOutcome('paused', states.deactivated);

export const renderUser = (context: UserPageContext, account: Account, forms: FilledForms): Page => ({
  title: account.name,
  breadcrumb: { href: '/admin/users', text: context.texts.accounts.title },
  subtitle: account.email,
  aside: renderActions(context, account),
  body: html`${renderKept(context.texts, forms.isKept)}<div class="split">
<div class="gap-l">${renderUse(account, context.texts)}${renderFacts(context, account)}${renderSessions(context, account)}</div>
<aside class="gap-l" aria-label="${context.texts.lists.actions}">${renderChange(context, account, forms)}${renderTrial(context, account, forms)}</aside>
</div>
${renderActivity(context, account)}`,
});

const renderActions = ({ csrfField, texts: { accounts } }: UserPageContext, { id, isActive }: Account): Html =>
  html`${
    isActive
      ? html`<a class="button" href="/admin/users/${id}/deactivate">${accounts.deactivate}…</a>`
      : html`<form method="post" action="/admin/users/${id}/reactivate">${csrfField}<button>${accounts.reactivate}</button></form>`
  }<a class="button danger" href="/admin/users/${id}/delete">${accounts.delete}…</a>`;

const renderUse = ({ stats, usage }: Account, { accounts, formats }: Texts): Html =>
  html`<section aria-label="${accounts.figures}"><dl class="figures">
<div><dt>${accounts.activeTasks}</dt><dd>${formats.number(stats.activeTasks)}</dd><dd>${accounts.ofTasks(stats.totalTasks)}</dd></div>
<div><dt>${accounts.runsThisMonth}</dt><dd>${formats.number(usage.runs.used)}</dd><dd>${accounts.ofPlan(formats.number(usage.runs.limit))}</dd></div>
<div><dt>${accounts.tokensThisMonth}</dt><dd>${formats.shortNumber(usage.tokens.used)}</dd><dd>${accounts.ofPlan(formats.shortNumber(usage.tokens.limit))}</dd></div>
<div><dt>${accounts.allRuns}</dt><dd>${formats.number(stats.totalExecutions)}</dd><dd>${accounts.runRates(stats.failedExecutions, formats.percent(stats.successRate / 100))}</dd></div>
</dl><p class="fine muted">${accounts.months}</p></section>`;

function renderFacts(context: UserPageContext, account: Account): Html {
  const { texts } = context;
  const { accounts } = texts;
  const { emailVerifiedAt, hasPassword, providers } = account;
  const ways = [...(hasPassword ? [accounts.password] : []), ...providers].join(', ');
  return html`<section aria-labelledby="facts"><div class="head"><h2 id="facts">${accounts.account}</h2><p><a href="/admin/audit?account=${account.id}">${accounts.auditLink}</a></p></div>
<dl class="facts">
<dt>${accounts.state}</dt><dd>${renderAccountState(account.isActive, texts)}</dd>
<dt>${accounts.trial}</dt><dd>${describeTrialEnd(account.trialEndsAt, context)}</dd>
<dt>${accounts.email}</dt><dd>${emailVerifiedAt === null ? accounts.notConfirmed : accounts.confirmed(renderMomentOn(emailVerifiedAt, context))}</dd>
<dt>${accounts.signsInWith}</dt><dd>${ways || accounts.noSignIn}</dd>
<dt>${accounts.timeZone}</dt><dd>${account.timezone ?? accounts.noTimeZone}</dd>
<dt>${accounts.registered}</dt><dd>${renderMoment(account.createdAt, context)}</dd>
<dt>${accounts.changed}</dt><dd>${renderMoment(account.updatedAt, context)}</dd>
</dl></section>`;
}

function renderSessions(context: UserPageContext, { sessions }: Account): Html {
  const { texts } = context;
  const { accounts, settings } = texts;
  const rows = sessions.map(({ userAgent, address, createdAt, lastUsedAt }) =>
    renderRow(
      renderRowHead(
        html`${describeUserAgent(userAgent, texts)}<span class="sub">${address ?? settings.unknownIp}</span>`,
      ),
      renderCell(renderMoment(createdAt, context), { class: 'num', label: accounts.signedIn }),
      renderCell(renderMomentWithDistance(lastUsedAt, context), { class: 'num start', label: accounts.lastUsed }),
    ),
  );
  return html`<section aria-labelledby="sessions"><div class="head"><h2 id="sessions">${accounts.sessions}</h2><p>${accounts.sessionsHint}</p></div>
${
  rows.length === 0
    ? html`<p class="muted">${accounts.noSessions}</p>`
    : renderTable(
        accounts.sessionsCaption,
        [
          { head: accounts.program },
          { head: accounts.signedIn, class: 'num' },
          { head: accounts.lastUsed, class: 'num' },
        ],
        rows,
      )
}</section>`;
}

/** Named by no person. */
const NUMBERS = ['taskId', 'executionId', 'actorId', 'keyId', 'channelId', 'couponId', 'prefix', 'scopes'];

function describeActivity(context: UserPageContext, details: Readonly<Record<string, unknown>>): string {
  const named = Object.entries(details).filter(([name]) => !NUMBERS.includes(name));
  return describeDetails(context, Object.fromEntries(named)).join(', ');
}

/** A run that was stopped has failed for programs only. */
const findEvent = (texts: Texts, type: string, { errorCode }: Readonly<Record<string, unknown>>): string =>
  errorCode === 'CANCELLED' ? texts.audit.runStopped : describeEvent(texts, type);

function renderActivity(context: UserPageContext, { recentActivity }: Account): Html {
  const { texts } = context;
  const { accounts } = texts;
  const rows = recentActivity.map(({ type, timestamp, details }) => {
    const isStop = details.errorCode === 'CANCELLED';
    const words = describeActivity(context, isStop ? { ...details, errorCode: null } : details);
    return renderRow(
      renderRowHead(html`${findEvent(texts, type, details)}${words !== '' && html`<span class="sub">${words}</span>`}`),
      renderCell(renderMomentWithDistance(timestamp, context), { class: 'num' }),
    );
  });
  return html`<section aria-labelledby="activity"><div class="head"><h2 id="activity">${accounts.activity}</h2></div>
${
  rows.length === 0
    ? html`<p class="muted">${accounts.noActivity}</p>`
    : renderTable(accounts.activityCaption, [{ head: accounts.event }, { head: accounts.time, class: 'num' }], rows)
}</section>`;
}

function renderChange(context: UserPageContext, { id, trialEndsAt }: Account, { values, errors }: FilledForms): Html {
  const { texts } = context;
  const { accounts } = texts;
  const shownTrialEnd = trialEndsAt === null ? '' : formatLocalTime(new Date(trialEndsAt), context.timeZone);
  return html`<form class="panel gap" method="post" action="/admin/users/${id}">${context.csrfField}
<input type="hidden" name="shownTrialEnd" value="${shownTrialEnd}">
<h2>${accounts.roleAndPlan}</h2>
${renderFormError(errors, texts)}
${renderSelect({
  name: 'role',
  label: accounts.role,
  options: toOptions(accounts.roles),
  value: values.role,
  errors,
  hint: id === context.viewer.id ? accounts.ownRoleHint : accounts.roleHint,
})}
${renderSelect({ name: 'plan', label: accounts.plan, options: toOptions(accounts.plans), value: values.plan, errors, hint: accounts.planHint })}
${renderInput({
  name: 'trialEndsAt',
  label: accounts.trialEnd,
  type: 'datetime-local',
  value: values.trialEndsAt,
  errors,
  hint: accounts.trialEndHint(texts.admin.localTime(context.timeZone)),
})}
<button class="primary">${texts.forms.save}</button>
</form>`;
}

const renderTrial = (
  { csrfField, texts }: UserPageContext,
  { id }: Account,
  { days, trialErrors }: FilledForms,
): Html =>
  html`<form class="panel gap" method="post" action="/admin/users/${id}/trial">${csrfField}
<h2>${texts.accounts.extendTrial}</h2>
${renderFormError({ ...trialErrors, fields: {} }, texts)}
${renderInput({
  name: 'days',
  label: texts.accounts.extraDays,
  type: 'number',
  value: days,
  required: true,
  errors: trialErrors,
  attributes: html`min="1" max="3650"`,
  hint: texts.accounts.extraDaysHint,
})}
<button>${texts.accounts.extend}</button>
</form>`;
