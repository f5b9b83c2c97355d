import type { WebActionData } from '../../actions.ts';
import { firstLine } from '../../components/first-line.ts';
import { renderDays } from '../../components/times.ts';
import { type Html, html } from '../../html.ts';
import { ASSET_URLS } from '../../http/assets.ts';
import type { PageRoutes } from '../../http/routes.ts';
import { type Page, type UserPageContext, unwrap } from '../../page.ts';
import { renderSeeAll } from '../runs/mark-seen.ts';
import { renderShortForm } from '../task-form/short-form.ts';
import { renderCards } from '../templates/cards.ts';
import { renderAttention, renderOutages } from './attention.ts';
import { renderDayAhead, renderRefused, renderUpNext } from './day-ahead.ts';
import { renderMonth } from './month.ts';

type Overview = WebActionData<'getOverview'>;

/** A start is late after a minute. */
const LATE_MS = 60_000;

function renderAnswers(context: UserPageContext, answers: Overview['answers']): Html {
  const { home } = context.texts;
  const entries = answers.map(({ taskName, executionId, at, text, latenessMs, isNew, isChanged }) => ({
    at: new Date(at),
    outcome: isChanged ? ('changed' as const) : (latenessMs ?? 0) > LATE_MS ? ('late' as const) : ('ran' as const),
    content: html`<a href="/executions/${executionId}"><b>${taskName}</b></a>${isNew && html` <span class="tag">${home.new}</span>`}${
      isChanged !== null &&
      html` <span class="tag${!isChanged && ' calm'}">${isChanged ? home.changed : home.same}</span>`
    }<p>${firstLine(text)}</p>`,
  }));
  return html`<section aria-labelledby="answers">
<div class="head"><h2 id="answers">${home.answers}</h2><div class="do">${renderSeeAll(context, '/')}<a href="/executions">${home.allRuns}</a></div></div>
${entries.length > 0 ? renderDays(entries, context) : html`<p class="muted">${home.noAnswers}</p>`}
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
  const overview = unwrap(await actions.getOverview(session, {}));
  if (overview.tasks === 0) return showFirstTask(context, overview);
  const { upcoming } = overview;
  return {
    title: home.title,
    subtitle: `${formats.longDay(now, timeZone)} · ${home.planned(upcoming.runs)}`,
    isLive: true,
    aside: html`<a class="button primary" href="/tasks/new">${home.newTask}</a>`,
    body: html`${renderAttention(context, overview)}
${renderOutages(context, overview)}
<section aria-labelledby="next">
<div class="head"><h2 id="next">${home.nextDay}</h2><p>${upcoming.refused > 0 && renderRefused(context, upcoming)} <a href="/tasks">${home.allTasks}</a></p></div>
${renderDayAhead(context, upcoming)}
</section>
<div class="split">
${renderAnswers(context, overview.answers)}
<section aria-labelledby="up">
<div class="head"><h2 id="up">${home.upNext}</h2></div>
${upcoming.next.length > 0 ? renderUpNext(context, upcoming) : html`<p class="muted">${home.noUpcoming}</p>`}
</section>
</div>
${renderMonth(overview.usage, context)}`,
  };
}

/** The most wanted of four kinds. */
const TEMPLATES = ['morning-brief', 'price-and-stock', 'frost-and-storm', 'releases'];

async function renderTemplates({ actions, session, texts }: UserPageContext): Promise<Html> {
  const { templates, missing } = unwrap(await actions.listTemplates(session, {}));
  const some = templates.filter(({ id }) => TEMPLATES.includes(id));
  return html`<section class="gap" aria-labelledby="templates">
<div class="head"><h2 id="templates">${texts.templates.orTemplate}</h2><a href="/templates">${texts.templates.all(templates.length)}</a></div>
${renderCards(some, missing, texts)}
</section>`;
}

/** The home of a person without a task is the form of the first one. */
const showFirstTask = async (context: UserPageContext, overview: Overview): Promise<Page> => ({
  title: context.texts.home.title,
  subtitle: `${context.texts.formats.longDay(context.now, context.timeZone)} · ${context.texts.home.nothingPlanned}`,
  scripts: [ASSET_URLS.taskForm],
  body: html`<section class="gap" aria-labelledby="first">
<h2 id="first">${context.texts.home.firstTask}</h2>
<p class="lead">${context.texts.home.firstTaskText}</p>
${await renderShortForm(context)}
</section>
${await renderTemplates(context)}
${overview.causes.length > 0 && renderAttention(context, overview)}`,
});

export function homePages({ user }: PageRoutes): void {
  user('GET', '/', showHome);
}
