import type { WebActionData } from '../../../actions.ts';
import { type FormErrors, renderFormError, renderInput, renderSelect } from '../../../components/fields.ts';
import { countWords, formatCount, formatShortCount } from '../../../components/format.ts';
import { renderOutcome } from '../../../components/status-icon.ts';
import { renderCell, renderRow, renderRowHead, renderTable } from '../../../components/tables.ts';
import { renderMoment, renderMomentOn, renderMomentWithDistance } from '../../../components/times.ts';
import { type Html, html } from '../../../html.ts';
import type { Page, UserPageContext } from '../../../page.ts';
import { describeDetails, describeKind } from '../audit-text.ts';
import { toLocalTime } from '../local-time.ts';
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

const ROLES = [
  { value: 'USER', text: 'User' },
  { value: 'ADMIN', text: 'Administrator' },
];
const PLANS = [
  { value: 'trial', text: 'Trial' },
  { value: 'pro', text: 'Pro' },
];

export const renderUser = (context: UserPageContext, account: Account, forms: FilledForms): Page => ({
  title: account.name,
  breadcrumb: { href: '/admin/users', text: 'Users' },
  subtitle: account.email,
  aside: renderActions(context, account),
  body: html`${renderKept(forms.isKept)}<div class="split">
<div class="gap-l">${renderUse(account)}${renderFacts(context, account)}${renderSessions(context, account)}</div>
<aside class="gap-l" aria-label="Change">${renderChange(context, account, forms)}${renderTrial(context, account, forms)}</aside>
</div>
${renderActivity(context, account)}`,
});

const renderActions = ({ csrfField }: UserPageContext, { id, isActive }: Account): Html =>
  html`${
    isActive
      ? html`<a class="button" href="/admin/users/${id}/deactivate">Deactivate…</a>`
      : html`<form method="post" action="/admin/users/${id}/reactivate">${csrfField}<button>Reactivate</button></form>`
  }<a class="button danger" href="/admin/users/${id}/delete">Delete…</a>`;

const renderUse = ({ stats, usage }: Account): Html =>
  html`<section aria-label="Use"><dl class="figures">
<div><dt>Active tasks</dt><dd>${formatCount(stats.activeTasks)}</dd><dd>of ${countWords(stats.totalTasks, 'task')}</dd></div>
<div><dt>Runs, this month</dt><dd>${formatCount(usage.runs.used)}</dd><dd>of ${formatCount(usage.runs.limit)} in the plan</dd></div>
<div><dt>Tokens, this month</dt><dd>${formatShortCount(usage.tokens.used)}</dd><dd>of ${formatShortCount(usage.tokens.limit)} in the plan</dd></div>
<div><dt>Runs, of all time</dt><dd>${formatCount(stats.totalExecutions)}</dd><dd>${formatCount(stats.failedExecutions)} failed, ${stats.successRate} % completed</dd></div>
</dl><p class="fine muted">Months begin in UTC.</p></section>`;

const ways = ({ hasPassword, providers }: Account) =>
  [...(hasPassword ? ['password'] : []), ...providers].join(', ') || 'none';

const renderFacts = (context: UserPageContext, account: Account): Html =>
  html`<section aria-labelledby="facts"><div class="head"><h2 id="facts">Account</h2><p><a href="/admin/audit?account=${account.id}">Audit log of this account</a></p></div>
<dl class="facts">
<dt>State</dt><dd>${account.isActive ? renderOutcome('ran', 'Active') : renderOutcome('paused', 'Deactivated')}</dd>
<dt>Trial</dt><dd>${account.trialEndsAt === null ? 'Without an end' : renderEnd(account.trialEndsAt, context)}</dd>
<dt>E-mail address</dt><dd>${account.emailVerifiedAt === null ? 'Not confirmed' : html`Confirmed ${renderMomentOn(account.emailVerifiedAt, context)}`}</dd>
<dt>Signs in with</dt><dd>${ways(account)}</dd>
<dt>Time zone</dt><dd>${account.timezone ?? 'UTC (none chosen)'}</dd>
<dt>Registered</dt><dd>${renderMoment(account.createdAt, context)}</dd>
<dt>Changed</dt><dd>${renderMoment(account.updatedAt, context)}</dd>
<dt>Number</dt><dd>${account.id}</dd>
<dt>Identity</dt><dd><code>${account.identityUserId}</code></dd>
</dl></section>`;

const renderEnd = (at: string, context: UserPageContext): Html =>
  html`${new Date(at) > context.now ? 'Ends' : 'Ended'} ${renderMomentWithDistance(at, context)}`;

function renderSessions(context: UserPageContext, { sessions }: Account): Html {
  const rows = sessions.map(({ userAgent, address, createdAt, lastUsedAt }) =>
    renderRow(
      renderRowHead(html`${userAgent ?? 'Unknown program'}<span class="sub">${address ?? 'Unknown address'}</span>`),
      renderCell(renderMoment(createdAt, context), { class: 'num', label: 'Signed in' }),
      renderCell(renderMomentWithDistance(lastUsedAt, context), { class: 'num start', label: 'Used' }),
    ),
  );
  return html`<section aria-labelledby="sessions"><div class="head"><h2 id="sessions">Sessions</h2><p>Another role and deactivation end them</p></div>
${
  rows.length === 0
    ? html`<p class="muted">This account has no open session.</p>`
    : renderTable(
        'Sessions, the last used first',
        [{ head: 'Program' }, { head: 'Signed in', class: 'num' }, { head: 'Last used', class: 'num' }],
        rows,
      )
}</section>`;
}

/** Without the numbers of what is named. */
function describeActivity({ taskId, executionId, actorId, ...details }: Readonly<Record<string, unknown>>): string {
  return describeDetails(details).join(', ');
}

function renderActivity(context: UserPageContext, { recentActivity }: Account): Html {
  const rows = recentActivity.map(({ type, timestamp, details }) => {
    const words = describeActivity(details);
    return renderRow(
      renderRowHead(html`${describeKind(type)}${words !== '' && html`<span class="sub">${words}</span>`}`),
      renderCell(renderMomentWithDistance(timestamp, context), { class: 'num' }),
    );
  });
  return html`<section aria-labelledby="activity"><div class="head"><h2 id="activity">Latest activity</h2></div>
${
  rows.length === 0
    ? html`<p class="muted">Sign-ins, tasks and runs will stand here.</p>`
    : renderTable('Latest activity, newest first', [{ head: 'What' }, { head: 'When', class: 'num' }], rows)
}</section>`;
}

function renderChange(context: UserPageContext, { id, trialEndsAt }: Account, { values, errors }: FilledForms): Html {
  const shownTrialEnd = trialEndsAt === null ? '' : toLocalTime(new Date(trialEndsAt), context.timeZone);
  return html`<form class="panel gap" method="post" action="/admin/users/${id}">${context.csrfField}
<input type="hidden" name="shownTrialEnd" value="${shownTrialEnd}">
<h2>Role and plan</h2>
${renderFormError(errors, context.texts)}
${renderSelect({
  name: 'role',
  label: 'Role',
  options: ROLES,
  value: values.role,
  errors,
  hint:
    id === context.viewer.id
      ? 'This is your account: another role signs you out.'
      : 'Another role ends the sessions of the account.',
})}
${renderSelect({ name: 'plan', label: 'Plan', options: PLANS, value: values.plan, errors, hint: 'Decides the quotas.' })}
${renderInput({
  name: 'trialEndsAt',
  label: 'Trial ends',
  type: 'datetime-local',
  value: values.trialEndsAt,
  errors,
  hint: `In ${context.timeZone}. Empty for a trial without an end.`,
})}
<button class="primary">Save</button>
</form>`;
}

const renderTrial = (
  { csrfField, texts }: UserPageContext,
  { id }: Account,
  { days, trialErrors }: FilledForms,
): Html =>
  html`<form class="panel gap" method="post" action="/admin/users/${id}/trial">${csrfField}
<h2>Extend the trial</h2>
${renderFormError({ ...trialErrors, fields: {} }, texts)}
${renderInput({
  name: 'days',
  label: 'Days',
  type: 'number',
  value: days,
  required: true,
  errors: trialErrors,
  attributes: html`min="1" max="3650"`,
  hint: 'Counted from the end of the trial, or from now if that has passed.',
})}
<button>Extend</button>
</form>`;
