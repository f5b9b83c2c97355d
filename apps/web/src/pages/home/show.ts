import type { WebActionData } from '../../actions.ts';
import { firstLine } from '../../components/first-line.ts';
import { renderDays } from '../../components/times.ts';
import { type Html, html } from '../../html.ts';
import type { Page } from '../../page.ts';
import { type UserPageContext, unwrap } from '../../page.ts';
import { renderFirstTaskForm } from '../task-form/first-task.ts';
import { renderAttention } from './attention.ts';
import { renderDayAhead, renderUpNext } from './day-ahead.ts';
import { recordVisit } from './last-visit.ts';
import { renderMonth } from './month.ts';

type Overview = WebActionData<'getOverview'>;

/** A start is late after a minute. */
const LATE_MS = 60_000;

function renderAnswers(context: UserPageContext, answers: Overview['answers'], since: Date | null): Html {
  const entries = answers.map(({ taskName, executionId, at, text, latenessMs }) => ({
    at: new Date(at),
    outcome: latenessMs !== null && latenessMs > LATE_MS ? ('late' as const) : ('ran' as const),
    content: html`<a href="/executions/${executionId}"><b>${taskName}</b></a><p>${firstLine(text)}</p>`,
  }));
  const { home, formats } = context.texts;
  const period = since === null ? home.lastDay : home.since(formats.momentOn(since, context));
  return html`<section aria-labelledby="answers">
<div class="head"><h2 id="answers">${home.answers}</h2><p>${period} · <a href="/executions">${home.allRuns}</a></p></div>
${entries.length > 0 ? renderDays(entries, context) : html`<p class="muted">${home.noAnswers(period)}</p>`}
</section>`;
}

/** The first page: what needs the person, what is planned, what was answered, and what it cost. */
export async function showHome(context: UserPageContext): Promise<Page> {
  const {
    actions,
    session,
    now,
    timeZone,
    texts: { home, formats },
  } = context;
  const since = recordVisit(context);
  const overview = unwrap(await actions.getOverview(session, since ? { since: since.toISOString() } : {}));
  if (overview.tasks === 0) return showFirstTask(context, overview);
  const { upcoming } = overview;
  return {
    title: home.title,
    subtitle: `${formats.longDay(now, timeZone)} · ${home.planned(upcoming.runs)}`,
    isLive: true,
    aside: html`<a class="button primary" href="/tasks/new">${home.newTask}</a>`,
    body: html`${renderAttention(context, overview)}
<section aria-labelledby="next">
<div class="head"><h2 id="next">${home.nextDay}</h2><a href="/tasks">${home.allTasks}</a></div>
${renderDayAhead(context, upcoming)}
</section>
<div class="split">
${renderAnswers(context, overview.answers, since)}
<section aria-labelledby="up">
<div class="head"><h2 id="up">${home.upNext}</h2></div>
${upcoming.next.length > 0 ? renderUpNext(context, upcoming) : html`<p class="muted">${home.noUpcoming}</p>`}
</section>
</div>
${renderMonth(overview.usage, context)}`,
  };
}

/** The home of a person without a task is the form of the first one. */
const showFirstTask = (context: UserPageContext, overview: Overview): Page => ({
  title: context.texts.home.title,
  subtitle: `${context.texts.formats.longDay(context.now, context.timeZone)} · ${context.texts.home.nothingPlanned}`,
  body: html`<section class="gap" aria-labelledby="first">
<h2 id="first">${context.texts.home.firstTask}</h2>
<p class="lead">${context.texts.home.firstTaskText}</p>
${renderFirstTaskForm(context)}
</section>
${renderAttention(context, overview)}`,
});
