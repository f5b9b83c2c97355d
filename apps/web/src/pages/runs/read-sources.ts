import { translateApiMessage } from '@carillon/texts';
import { renderOutcome } from '../../components/status-icon.ts';
import { EMPTY, type Html, html } from '../../html.ts';
import type { UserPageContext } from '../../page.ts';
import type { Run } from './outcomes.ts';

type Source = Run['execution']['sources'][number];

const SIGNS = { new: 'changed', unchanged: 'unchanged', failed: 'failed' } as const;

/** What the run has read before it asked the model. Addresses are those of the owner, whom nothing else may follow. */
export function renderReadSources(context: UserPageContext, { execution: { sources } }: Run): Html {
  if (sources.length === 0) return EMPTY;
  const { runs } = context.texts;
  return html`<section aria-labelledby="read-sources"><div class="head"><h2 id="read-sources">${runs.readSources}</h2></div><ol class="numbered sources">${sources.map((source) => renderSource(context, source))}</ol></section>`;
}

function renderSource(context: UserPageContext, { name, url, search, status, message, asOf, bytes }: Source): Html {
  const { texts } = context;
  const { runs, formats } = texts;
  const origin =
    url === undefined
      ? runs.searchedFor(search ?? '')
      : html`<a href="${url}" rel="noopener noreferrer nofollow">${url}</a>`;
  const isOld = status === 'failed' && asOf !== null;
  const notes = [
    message !== null && translateApiMessage(message, texts),
    isOld && runs.textAsOf(formats.momentLabel(new Date(asOf), context)),
    status !== 'failed' && bytes !== null && formats.bytes(bytes),
  ].filter((note) => note !== false);
  return html`<li><code>${name}</code> ${renderOutcome(SIGNS[status], runs.sourceStates[status])}<span class="sub">${origin}</span>${notes.length > 0 && html`<span class="sub">${notes.join(' · ')}</span>`}</li>`;
}
