import type { Texts } from '@carillon/texts';
import { renderAnswerDifferences } from '../../components/answer/answer-differences.ts';
import { isScalar, renderScalar } from '../../components/answer/output.ts';
import { NO_ERRORS, renderSelect } from '../../components/fields.ts';
import { renderCell, renderRow, renderRowHead, renderTable } from '../../components/tables.ts';
import { EMPTY, type Html, html } from '../../html.ts';
import type { UserPageContext } from '../../page.ts';
import type { Run } from './outcomes.ts';

type Change = NonNullable<Run['execution']['changes']>[number];

/** Of a value, in characters. */
const MAX_VALUE_LENGTH = 300;

/** How the answer differs from the one that it was compared with: the watched values of an output, or the text. */
export function renderChanges(
  context: UserPageContext,
  { execution, lastSuccess, comparedWithId, comparable }: Run,
): Html {
  const { texts } = context;
  const { runs, formats } = texts;
  const { result, output, changed, changes } = execution;
  if (result === null || lastSuccess === null) return EMPTY;
  const { id, at, answer } = lastSuccess;
  const link = html`<a href="/executions/${id}">${formats.moment(new Date(at), context)}</a>`;
  const isCompared = comparedWithId === null || comparedWithId === id;
  return html`<section aria-labelledby="changes"><div class="head"><h2 id="changes">${changed && isCompared ? runs.changedSince : runs.changes}</h2><p>${isCompared ? runs.since(link) : runs.comparedWith(link)}</p></div>${
    output !== null && changed !== null && isCompared
      ? renderValues(changes ?? [], texts)
      : renderAnswerDifferences(answer, result, texts)
  }${comparable.length > 1 && renderChoice(context, execution.id, id, comparable)}</section>`;
}

/** A choice of another run to compare with. */
const renderChoice = (context: UserPageContext, id: number, current: number, comparable: Run['comparable']): Html => {
  const { runs, formats } = context.texts;
  const options = comparable.map((one) => ({
    value: String(one.id),
    text: `${formats.momentLabel(new Date(one.at), context)} (${runs.number(one.id)})`,
  }));
  return html`<form class="sentence after" method="get" action="/executions/${id}#changes">
${renderSelect({ name: 'against', label: runs.compareWith, options, value: String(current), errors: NO_ERRORS })}<button>${runs.compare}</button></form>`;
};

/** The watched values that changed, before and now. */
export function renderValues(changes: readonly Change[], texts: Texts): Html {
  const { runs } = texts;
  if (changes.length === 0) return html`<p class="muted">${runs.noWatchedChange}</p>`;
  const listed = changes.filter(({ from, to }) => from !== undefined || to !== undefined);
  const isCut = changes.some(({ cut }) => cut);
  return html`${renderTable(
    runs.changedValues(listed.length),
    [{ head: runs.value }, { head: runs.before }, { head: runs.now }],
    listed.map(({ path, from, to }) =>
      renderRow(
        renderRowHead(path === '' ? runs.wholeOutput : html`<code class="code">${path}</code>`, { class: 'whole' }),
        renderCell(renderChangedValue(from, texts), { label: runs.before }),
        renderCell(renderChangedValue(to, texts), { label: runs.now }),
      ),
    ),
  )}${isCut && html`<p class="fine muted">${runs.changesCut}</p>`}`;
}

/** As the answer shows it: `yes` for `true`. */
function renderChangedValue(value: unknown, texts: Texts): Html {
  if (value === undefined) return html`<span class="muted">${texts.runs.missing}</span>`;
  if (isScalar(value) && String(value).length <= MAX_VALUE_LENGTH) return renderScalar(texts, value);
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return html`<code class="code">${text.length > MAX_VALUE_LENGTH ? `${text.slice(0, MAX_VALUE_LENGTH)}…` : text}</code>`;
}
