import type { Texts } from '@carillon/texts';
import type { WebActionData } from '../../actions.ts';
import { renderIcon, renderOutcome } from '../../components/status-icon.ts';
import { renderCell, renderRow, renderRowHead, renderTable } from '../../components/tables.ts';
import { renderMoment } from '../../components/times.ts';
import { type Html, html } from '../../html.ts';
import type { Page } from '../../page.ts';
import { type UserPageContext, unwrap } from '../../page.ts';
import { renderChecksLater } from './checks.ts';
import { describeTroubles, type Trouble } from './health.ts';
import { renderRunChart } from './run-chart.ts';
import { renderSections } from './sections.ts';

type Overview = WebActionData<'getServiceOverview'>;

export async function showOverview(context: UserPageContext): Promise<Page> {
  const overview = unwrap(await context.actions.getServiceOverview(context.session, {}));
  const { texts } = context;
  const troubles = describeTroubles(overview, context);
  return {
    title: texts.admin.title,
    subtitle: troubles.length === 0 ? texts.admin.healthy : texts.admin.unhealthy(troubles.length),
    body: html`${renderSections(texts, '/admin')}
${troubles.length > 0 && renderTroubles(troubles, texts)}
<div class="halves">${renderHealth(overview, texts)}${renderInstallation(overview, context)}</div>
${renderChecksLater(context)}
${renderFigures(overview, texts)}
<div class="halves">${renderHours(overview, context)}${renderDays(overview, context)}</div>
<div class="halves">${renderQueues(overview, texts)}${renderTopUsers(overview, texts)}</div>`,
  };
}

const renderCheck = (name: string, isWell: boolean, text: string): Html =>
  html`<dt>${name}</dt><dd>${renderOutcome(isWell ? 'ran' : 'failed', text)}</dd>`;

const renderTroubles = (troubles: readonly Trouble[], { admin }: Texts): Html =>
  html`<section aria-labelledby="troubles"><div class="head"><h2 id="troubles">${admin.needsAttention}</h2></div>
<ul class="needs">${troubles.map(
    ({ text, link }) =>
      html`<li>${renderIcon('failed')}<p>${text}</p>${link && html`<div class="do"><a class="button" href="${link.href}">${link.text}</a></div>`}</li>`,
  )}</ul></section>`;

function renderInstallation({ installation }: Overview, context: UserPageContext): Html {
  const { admin, formats } = context.texts;
  const { version, providers, isOffline, mail, storage, lastBackupAt } = installation;
  const names = providers.length > 0 ? formats.list(providers) : isOffline ? admin.offlineModel : admin.noProvider;
  return html`<section aria-labelledby="installation"><div class="head"><h2 id="installation">${admin.installation}</h2></div>
<dl class="facts">
<dt>${admin.version}</dt><dd>${version}</dd>
<dt>${admin.sections.providers}</dt><dd>${names} <a href="/admin/providers">${admin.change}</a></dd>
<dt>${admin.mail}</dt><dd>${'host' in mail ? mail.host : html`${admin.mailInFiles} <code>${mail.folder}</code><span class="sub">${admin.setSmtp(html`<code>SMTP_URL</code>`)}</span>`}</dd>
<dt>${admin.storage}</dt><dd>${admin.storages[storage.driver]}${storage.place !== null && html` <code>${storage.place}</code>`}</dd>
<dt>${admin.lastBackup}</dt><dd>${lastBackupAt === null ? admin.noBackup(html`<code>carillon backup</code>`) : html`${renderMoment(lastBackupAt, context)}<span class="sub">${formats.distance(new Date(lastBackupAt), context.now)}</span>`}</dd>
</dl></section>`;
}

const renderHealth = ({ readiness: { checks }, isMaintenance }: Overview, { admin }: Texts): Html =>
  html`<section aria-labelledby="health"><div class="head"><h2 id="health">${admin.status}</h2></div>
<dl class="facts">
${renderCheck(admin.database, checks.database === 'ok', admin.databaseStates[checks.database])}
${renderCheck(admin.schema, checks.migrations === 'ok', admin.schemaStates[checks.migrations])}
${renderCheck(admin.worker, checks.worker === 'ok', admin.workerStates[checks.worker])}
<dt>${admin.maintenance}</dt><dd>${
    isMaintenance
      ? html`${renderOutcome('paused', admin.on)}<span class="sub">${admin.onlyAdmins} <a href="/admin/maintenance">${admin.endMaintenance}…</a></span>`
      : html`${renderOutcome('ran', admin.off)}<span class="sub">${admin.everyone} <a href="/admin/maintenance">${admin.startMaintenance}…</a></span>`
  }</dd>
</dl></section>`;

function renderFigures({ users, tasks, hours }: Overview, { admin, formats }: Texts): Html {
  const completed = hours.reduce((sum, hour) => sum + hour.completed, 0);
  const failed = hours.reduce((sum, hour) => sum + hour.failed, 0);
  const live = hours.reduce((sum, hour) => sum + hour.live, 0);
  const ended = completed + failed;
  return html`<section aria-label="${admin.figures}"><dl class="figures">
<div><dt>${admin.runsLastDay}</dt><dd>${formats.number(ended + live)}</dd><dd>${admin.failedAndLive(failed, live)}</dd></div>
<div><dt>${admin.completedLastDay}</dt><dd>${ended === 0 ? '–' : formats.percent(Math.floor((completed / ended) * 1000) / 1000)}</dd><dd>${admin.ofFinished(ended)}</dd></div>
<div><dt>${admin.activeTasks}</dt><dd>${formats.number(tasks.active)}</dd><dd>${admin.ofTasks(tasks.total)}</dd></div>
<div><dt>${admin.activeUsers}</dt><dd>${formats.number(users.active)}</dd><dd>${admin.ofUsers(users.total, users.newLast30Days)}</dd></div>
</dl></section>`;
}

function renderHours({ hours }: Overview, { timeZone, texts }: UserPageContext): Html {
  const { admin, formats } = texts;
  const clock = (from: string, offset = 0) => formats.time(new Date(new Date(from).getTime() + offset), timeZone);
  const bars = hours.map((hour) => ({
    ...hour,
    title: admin.hour(
      clock(hour.from),
      clock(hour.from, 3_600_000),
      admin.runCounts(hour.completed, hour.failed, hour.live),
    ),
  }));
  const total = (name: 'completed' | 'failed' | 'live') => hours.reduce((sum, hour) => sum + hour[name], 0);
  const counts = admin.runCounts(total('completed'), total('failed'), total('live'));
  return html`<section aria-labelledby="hours"><div class="head"><h2 id="hours">${admin.lastDay}</h2><p>${admin.byHour}</p></div>
<figure>${renderRunChart(bars, { label: admin.labelled(admin.lastDay, counts), describeTop: admin.upToPerHour, none: admin.noRuns, from: clock(hours[0]?.from ?? ''), to: admin.now })}
<figcaption>${admin.failedBelow(counts)}</figcaption></figure></section>`;
}

function renderDays({ days, runs }: Overview, { now, texts }: UserPageContext): Html {
  const { admin, formats } = texts;
  const name = (day: string) => formats.day(new Date(`${day}T00:00:00Z`), { now, timeZone: 'UTC' });
  const bars = days.map(({ day, completed, failed }) => ({
    completed,
    failed,
    live: 0,
    title: admin.labelled(name(day), admin.runCounts(completed, failed, 0)),
  }));
  const total = (counter: 'completed' | 'failed') => days.reduce((sum, day) => sum + day[counter], 0);
  const counts = admin.runCounts(total('completed'), total('failed'), 0);
  return html`<section aria-labelledby="days"><div class="head"><h2 id="days">${admin.lastMonth}</h2><p>${admin.byDay}</p></div>
<figure>${renderRunChart(bars, { label: admin.labelled(admin.lastMonth, counts), describeTop: admin.upToPerDay, none: admin.noRuns, from: name(days[0]?.day ?? ''), to: admin.today })}
<figcaption>${admin.allTime(counts, runs.total, formats.percent(Math.floor(runs.successRate * 10) / 1000))}</figcaption></figure></section>`;
}

const renderQueues = ({ queues, runs }: Overview, { admin, formats }: Texts): Html =>
  html`<section aria-labelledby="queues"><div class="head"><h2 id="queues">${admin.queues}</h2></div>
<dl class="facts">
<dt>${admin.runs}</dt><dd>${admin.queuedRuns(queues.executions, runs.running)}</dd>
<dt>${admin.deliveries}</dt><dd>${admin.queued(queues.deliveries)}</dd>
<dt>${admin.mails}</dt><dd>${admin.queued(queues.mails)}</dd>
<dt>${admin.oldestRun}</dt><dd>${queues.oldestDueMs === 0 ? admin.noneLate : admin.dueFor(formats.duration(queues.oldestDueMs))}</dd>
</dl></section>`;

const renderTopUsers = ({ topUsers }: Overview, { admin, formats }: Texts): Html =>
  html`<section aria-labelledby="top"><div class="head"><h2 id="top">${admin.topUsers}</h2><p>${admin.topUsersPeriod}</p></div>
${
  topUsers.length === 0
    ? html`<p class="muted">${admin.noTopUsers}</p>`
    : renderTable(
        admin.topUsersCaption,
        [{ head: admin.user }, { head: admin.runs, class: 'num' }],
        topUsers.map(({ userId, userName, userEmail, executionCount }) =>
          renderRow(
            renderRowHead(html`<a href="/admin/users/${userId}">${userName}</a><span class="sub">${userEmail}</span>`),
            renderCell(formats.number(executionCount), { class: 'num' }),
          ),
        ),
      )
}</section>`;
