import type { WebActionData } from '../../actions.ts';
import { firstLine } from '../../components/first-line.ts';
import { countWords, formatDay, formatLongDay, formatTime } from '../../components/format.ts';
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
  const { now, timeZone } = context;
  const entries = answers.map(({ taskName, executionId, at, text, latenessMs }) => ({
    at: new Date(at),
    outcome: latenessMs !== null && latenessMs > LATE_MS ? ('late' as const) : ('ran' as const),
    content: html`<a href="/executions/${executionId}"><b>${taskName}</b></a><p>${firstLine(text)}</p>`,
  }));
  const from =
    since === null
      ? 'in the last 24 hours'
      : `since ${formatDay(since, timeZone, now)}, ${formatTime(since, timeZone)}`;
  return html`<section aria-labelledby="answers">
<div class="head"><h2 id="answers">Answers since you last looked</h2><p>${from} · <a href="/executions">all runs</a></p></div>
${entries.length > 0 ? renderDays(entries, context) : html`<p class="muted">No answer came ${from}.</p>`}
</section>`;
}

/** The first page: what needs the person, what is planned, what was answered, and what it cost. */
export async function showHome(context: UserPageContext): Promise<Page> {
  const { actions, session, now, timeZone } = context;
  const since = recordVisit(context);
  const overview = unwrap(await actions.getOverview(session, since ? { since: since.toISOString() } : {}));
  if (overview.tasks === 0) return showFirstTask(context, overview);
  const { upcoming } = overview;
  const planned = `${countWords(upcoming.runs, 'run')} in the next 24 hours`;
  return {
    title: 'Home',
    subtitle: `${formatLongDay(now, timeZone)}. ${planned}.`,
    isLive: true,
    aside: html`<a class="button primary" href="/tasks/new">New task</a>`,
    body: html`${renderAttention(context, overview)}
<section aria-labelledby="next">
<div class="head"><h2 id="next">Next 24 hours</h2><a href="/tasks">All tasks</a></div>
${renderDayAhead(context, upcoming)}
</section>
<div class="split">
${renderAnswers(context, overview.answers, since)}
<section aria-labelledby="up">
<div class="head"><h2 id="up">Up next</h2></div>
${upcoming.next.length > 0 ? renderUpNext(context, upcoming) : html`<p class="muted">Nothing is planned in the next 24 hours.</p>`}
</section>
</div>
${renderMonth(overview.usage, now)}`,
  };
}

/** The home of a person without a task is the form of the first one. */
const showFirstTask = (context: UserPageContext, overview: Overview): Page => ({
  title: 'Home',
  subtitle: `${formatLongDay(context.now, context.timeZone)}. Nothing is planned yet.`,
  body: html`<section class="gap" aria-labelledby="first">
<h2 id="first">Your first task</h2>
<p class="lead">Write what you want to know. Carillon asks it at the time you choose and keeps every answer here.</p>
${renderFirstTaskForm(context)}
</section>
${renderAttention(context, overview)}`,
});
