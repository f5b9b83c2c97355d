import type { WebActionData } from '../../actions.ts';
import { countWords, formatCount, formatDay, formatDuration, formatTime } from '../../components/format.ts';
import { renderIcon, renderOutcome } from '../../components/status-icon.ts';
import { renderCell, renderRow, renderRowHead, renderTable } from '../../components/tables.ts';
import { type Html, html } from '../../html.ts';
import type { Page } from '../../page.ts';
import { type UserPageContext, unwrap } from '../../page.ts';
import { describeTroubles } from './health.ts';
import { renderRunChart } from './run-chart.ts';
import { renderSections } from './sections.ts';

type Overview = WebActionData<'getServiceOverview'>;

export async function showOverview(context: UserPageContext): Promise<Page> {
  const overview = unwrap(await context.actions.getServiceOverview(context.session, {}));
  const troubles = describeTroubles(overview);
  return {
    title: 'Administration',
    subtitle: troubles.length === 0 ? 'The service is well.' : 'Something needs attention.',
    body: html`${renderSections('/admin')}
${renderHealth(overview, troubles)}
${renderFigures(overview)}
<div class="halves">${renderHours(overview, context)}${renderDays(overview, context)}</div>
<div class="halves">${renderQueues(overview)}${renderTopUsers(overview)}</div>`,
  };
}

const CHECKS = {
  database: { ok: 'Accepts changes', read_only: 'Read-only', failed: 'Does not answer' },
  migrations: { ok: 'Up to date', behind: 'Out of date', unknown: 'Not known' },
  worker: { ok: 'Runs', starting: 'Is starting', stuck: 'Stuck', stopping: 'Is stopping' },
} as const;

const renderCheck = (name: string, isWell: boolean, text: string): Html =>
  html`<dt>${name}</dt><dd>${renderOutcome(isWell ? 'ran' : 'failed', text)}</dd>`;

const renderHealth = ({ readiness: { checks }, isMaintenance }: Overview, troubles: readonly string[]): Html =>
  html`<section aria-labelledby="health"><div class="head"><h2 id="health">State</h2></div>
${
  troubles.length > 0 &&
  html`<ul class="needs">${troubles.map((text) => html`<li>${renderIcon('failed')}<p>${text}</p></li>`)}</ul>`
}
<dl class="facts">
${renderCheck('Database', checks.database === 'ok', CHECKS.database[checks.database])}
${renderCheck('Schema', checks.migrations === 'ok', CHECKS.migrations[checks.migrations])}
${renderCheck('Worker', checks.worker === 'ok', CHECKS.worker[checks.worker])}
<dt>Maintenance</dt><dd>${
    isMaintenance
      ? html`${renderOutcome('paused', 'On')}<span class="sub">Only administrators can use the service. <a href="/admin/maintenance">End maintenance…</a></span>`
      : html`${renderOutcome('ran', 'Off')}<span class="sub">Everybody can use the service. <a href="/admin/maintenance">Begin maintenance…</a></span>`
  }</dd>
</dl></section>`;

function renderFigures({ users, tasks, hours }: Overview): Html {
  const completed = hours.reduce((sum, hour) => sum + hour.completed, 0);
  const failed = hours.reduce((sum, hour) => sum + hour.failed, 0);
  const live = hours.reduce((sum, hour) => sum + hour.live, 0);
  const ended = completed + failed;
  return html`<section aria-label="Figures"><dl class="figures">
<div><dt>Runs, last 24 h</dt><dd>${formatCount(ended + live)}</dd><dd>${formatCount(failed)} failed, ${formatCount(live)} not ended</dd></div>
<div><dt>Completed, last 24 h</dt><dd>${ended === 0 ? '–' : `${Math.floor((completed / ended) * 1000) / 10} %`}</dd><dd>of ${countWords(ended, 'ended run')}</dd></div>
<div><dt>Active tasks</dt><dd>${formatCount(tasks.active)}</dd><dd>of ${countWords(tasks.total, 'task')}</dd></div>
<div><dt>Active users</dt><dd>${formatCount(users.active)}</dd><dd>of ${countWords(users.total, 'user')}, ${formatCount(users.newLast30Days)} new in 30 days</dd></div>
</dl></section>`;
}

const describeCounts = (completed: number, failed: number, live: number) =>
  `${formatCount(completed)} completed, ${formatCount(failed)} failed${live > 0 ? `, ${formatCount(live)} not ended` : ''}`;

function renderHours({ hours }: Overview, { timeZone }: UserPageContext): Html {
  const clock = (from: string, offset = 0) => formatTime(new Date(new Date(from).getTime() + offset), timeZone);
  const bars = hours.map((hour) => ({
    ...hour,
    title: `${clock(hour.from)} to ${clock(hour.from, 3_600_000)}: ${describeCounts(hour.completed, hour.failed, hour.live)}`,
  }));
  const total = (name: 'completed' | 'failed' | 'live') => hours.reduce((sum, hour) => sum + hour[name], 0);
  const words = describeCounts(total('completed'), total('failed'), total('live'));
  return html`<section aria-labelledby="hours"><div class="head"><h2 id="hours">Runs of the last 24 hours</h2><p>by hour</p></div>
<figure>${renderRunChart(bars, { label: `Runs of the last 24 hours: ${words}`, unit: 'an hour', from: clock(hours[0]?.from ?? ''), to: 'now' })}
<figcaption>${words}. Failed runs hang below the line.</figcaption></figure></section>`;
}

function renderDays({ days, runs }: Overview, { now }: UserPageContext): Html {
  const name = (day: string) => formatDay(new Date(`${day}T00:00:00Z`), 'UTC', now);
  const bars = days.map(({ day, completed, failed }) => ({
    completed,
    failed,
    live: 0,
    title: `${name(day)}: ${describeCounts(completed, failed, 0)}`,
  }));
  const total = (counter: 'completed' | 'failed') => days.reduce((sum, day) => sum + day[counter], 0);
  const words = describeCounts(total('completed'), total('failed'), 0);
  return html`<section aria-labelledby="days"><div class="head"><h2 id="days">Runs of the last 30 days</h2><p>by day in UTC</p></div>
<figure>${renderRunChart(bars, { label: `Runs of the last 30 days: ${words}`, unit: 'a day', from: name(days[0]?.day ?? ''), to: 'today' })}
<figcaption>${words}. Of all time: ${countWords(runs.total, 'kept run')}, ${runs.successRate} % of the ended ones completed.</figcaption></figure></section>`;
}

const renderQueues = ({ queues, runs }: Overview): Html =>
  html`<section aria-labelledby="queues"><div class="head"><h2 id="queues">Waiting now</h2></div>
<dl class="facts">
<dt>Runs</dt><dd>${formatCount(queues.executions)} queued, ${formatCount(runs.running)} running</dd>
<dt>Deliveries</dt><dd>${formatCount(queues.deliveries)} queued to webhooks</dd>
<dt>Mails</dt><dd>${formatCount(queues.mails)} queued</dd>
<dt>Oldest due run</dt><dd>${queues.oldestDueMs === 0 ? 'None is late' : `Due for ${formatDuration(queues.oldestDueMs)}`}</dd>
</dl></section>`;

const renderTopUsers = ({ topUsers }: Overview): Html =>
  html`<section aria-labelledby="top"><div class="head"><h2 id="top">Most runs</h2><p>of all time</p></div>
${
  topUsers.length === 0
    ? html`<p class="muted">The users with the most runs will stand here.</p>`
    : renderTable(
        'Users with the most runs',
        [{ head: 'User' }, { head: 'Runs', class: 'num' }],
        topUsers.map(({ userId, userName, userEmail, executionCount }) =>
          renderRow(
            renderRowHead(html`<a href="/admin/users/${userId}">${userName}</a><span class="sub">${userEmail}</span>`),
            renderCell(formatCount(executionCount), { class: 'num' }),
          ),
        ),
      )
}</section>`;
