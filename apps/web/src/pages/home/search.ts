import { renderInput } from '../../components/fields.ts';
import { firstLine } from '../../components/first-line.ts';
import { listPages } from '../../components/navigation.ts';
import { MAX_CHARACTERS } from '../../components/search-dialog.ts';
import { buildAddress } from '../../components/tables.ts';
import { renderMomentOn } from '../../components/times.ts';
import { type Html, html, raw } from '../../html.ts';
import { readQuery } from '../../http/forms.ts';
import type { PageRoutes } from '../../http/routes.ts';
import { type Page, type UserPageContext, unwrap } from '../../page.ts';
import { listAdminPages } from '../admin/sections.ts';
import { describeOutcome, timeOf } from '../runs/outcomes.ts';
import { listSettingsPages } from '../settings/sections.ts';

const MAX_RUNS = 5;

interface Entry {
  href: string;
  text: string;
  /** Beside the text. */
  more?: Html | string;
}

/** Without accents and capitals. */
const simplify = (text: string) => text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();

function findPages({ texts, viewer }: UserPageContext, q: string): Entry[] {
  const { settings, admin } = texts;
  const within = (area: string) => (page: Entry) => ({ ...page, more: area });
  return [
    ...listPages(texts.navigation),
    ...listSettingsPages(texts).map(within(settings.title)),
    ...(viewer.role === 'ADMIN' ? listAdminPages(texts).map(within(admin.title)) : []),
  ].filter(({ text }) => simplify(text).includes(simplify(q)));
}

async function findTasks({ actions, session, texts }: UserPageContext, q: string): Promise<Entry[]> {
  const { tasks } = unwrap(await actions.findTasks(session, { search: q }));
  return tasks.map(({ id, name, status }) => ({
    href: `/tasks/${id}`,
    text: name,
    ...(status !== 'active' && { more: texts.tasks.statuses[status] }),
  }));
}

async function findRuns(context: UserPageContext, q: string): Promise<Entry[]> {
  const { actions, session, texts } = context;
  const { runs } = unwrap(await actions.listRuns(session, { search: q, limit: MAX_RUNS }));
  return runs.map((run) => ({
    href: `/executions/${run.id}`,
    text: run.taskName,
    more: html`${describeOutcome(texts, run).text} ${renderMomentOn(timeOf(run), context)}<span class="sub line">${firstLine(run.resultStart ?? run.error ?? '')}</span>`,
  }));
}

const renderEntries = (id: string, title: string, entries: readonly Entry[], more: Html | false = false) =>
  entries.length > 0 &&
  html`<section aria-labelledby="found-${id}"><h2 id="found-${id}">${title}</h2>
<ul class="found">${entries.map(
    ({ href, text, more: detail }) =>
      html`<li><a href="${href}">${text}</a>${detail !== undefined && html` <span class="muted">${detail}</span>`}</li>`,
  )}</ul>${more}</section>`;

/** Tasks by name, runs by the words of their answers and prompts, and pages. */
export async function showSearch(context: UserPageContext): Promise<Page> {
  const { lists, runs: runTexts } = context.texts;
  const { q: given = '' } = readQuery(context.request);
  const q = [...given.trim()].slice(0, MAX_CHARACTERS).join('');
  const pages = findPages(context, q);
  const [tasks, runs] = q === '' ? [[], []] : await Promise.all([findTasks(context, q), findRuns(context, q)]);
  const count = tasks.length + runs.length + pages.length;
  const allRuns = html`<p><a href="${buildAddress('/executions', { q })}">${lists.allMatchingRuns}</a></p>`;
  return {
    title: lists.searchTitle,
    body: html`<form class="sentence" method="get" action="/search" role="search">
<div class="grow">${renderInput({ name: 'q', label: lists.searchLabel, type: 'search', value: q, attributes: raw(`maxlength="${MAX_CHARACTERS}" autofocus`) })}</div>
<button>${lists.searchTitle}</button>
</form>
<div id="found" class="gap">
<p class="fine muted" role="status">${count === 0 ? lists.nothingFound(q) : q === '' ? lists.searchHint : lists.found(count)}</p>
${renderEntries('tasks', context.texts.tasks.title, tasks)}
${renderEntries('runs', runTexts.title, runs, runs.length === MAX_RUNS && allRuns)}
${renderEntries('pages', lists.pages, pages)}
</div>`,
  };
}

export function searchPages({ user }: PageRoutes): void {
  user('GET', '/search', showSearch);
}
