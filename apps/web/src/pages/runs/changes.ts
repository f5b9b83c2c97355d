import { renderDifferences } from '../../components/differences.ts';
import { countWords, formatMoment } from '../../components/format.ts';
import { renderCell, renderRow, renderRowHead, renderTable } from '../../components/tables.ts';
import { EMPTY, type Html, html } from '../../html.ts';
import type { UserPageContext } from '../../page.ts';
import type { Run } from './outcomes.ts';

type Change = NonNullable<Run['execution']['changes']>[number];

/** Of a value, in characters. */
const MAX_VALUE_LENGTH = 300;

/** How the answer differs from the one that it was compared with: watched values, then the text. */
export function renderChanges({ timeZone, now }: UserPageContext, { execution, lastSuccess }: Run): Html {
  const { result, output, changed, changes } = execution;
  if (result === null || lastSuccess === null) return EMPTY;
  const { id, at, answer } = lastSuccess;
  const link = html`<a href="/executions/${id}">${formatMoment(new Date(at), timeZone, now)}</a>`;
  const values = output !== null && changed !== null ? renderValues(changes ?? []) : EMPTY;
  return html`<section aria-labelledby="changes"><div class="head"><h2 id="changes">${changed ? 'Changed since the last success' : 'What changed'}</h2><p>${changed ? 'of' : 'since'} ${link}</p></div>${values}${
    answer === result
      ? html`<p class="muted">Nothing: the answer is the same.</p>`
      : (renderDifferences(answer, result) ??
        html`<p class="muted">The answers differ, and are too long to compare.</p>`)
  }</section>`;
}

const COLUMNS = [{ head: 'Value' }, { head: 'Before' }, { head: 'Now' }];

/** The watched values that changed, before and now. */
export function renderValues(changes: readonly Change[]): Html {
  if (changes.length === 0) return html`<p class="muted">No watched value changed.</p>`;
  const listed = changes.filter(({ from, to }) => from !== undefined || to !== undefined);
  const isCut = changes.some(({ cut }) => cut);
  return html`${renderTable(
    `${countWords(listed.length, 'changed value')}`,
    COLUMNS,
    listed.map(({ path, from, to }) =>
      renderRow(
        renderRowHead(path === '' ? 'The whole output' : html`<code class="code">${path}</code>`, { class: 'whole' }),
        renderCell(renderValue(from), { label: 'Before' }),
        renderCell(renderValue(to), { label: 'Now' }),
      ),
    ),
  )}${isCut && html`<p class="fine muted">Not all of it is shown: a value is long, or many have changed.</p>`}`;
}

function renderValue(value: unknown): Html {
  if (value === undefined) return html`<span class="muted">missing</span>`;
  const text = JSON.stringify(value);
  return html`<code class="code">${text.length > MAX_VALUE_LENGTH ? `${text.slice(0, MAX_VALUE_LENGTH)}…` : text}</code>`;
}
