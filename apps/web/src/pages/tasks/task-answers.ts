import { renderMarkdown } from '../../components/answer/markdown.ts';
import { renderOutput } from '../../components/answer/output.ts';
import { renderDifferences } from '../../components/differences.ts';
import { renderMoment } from '../../components/times.ts';
import { type Html, html } from '../../html.ts';
import type { UserPageContext } from '../../page.ts';
import { renderValues } from '../runs/changes.ts';
import type { TaskView } from './task-view.ts';

type Answer = TaskView['answers'][number];

/** Longer answers are shown on the page of their run. */
const MAX_CHARACTERS = 20_000;

/** The last answer, and what has changed since the one before. */
export function renderAnswers(context: UserPageContext, { answers, runs }: TaskView): Html {
  const [last, before] = answers;
  if (!last) return renderNoAnswer(runs.length > 0);
  const { id, text, output, model, plannedFor, completedAt } = last;
  const isCut = text.length > MAX_CHARACTERS;
  return html`<section aria-labelledby="last">
<div class="head"><h2 id="last">Last answer</h2><p>${renderMoment(plannedFor ?? completedAt, context)}${model && ` · ${model}`} · <a href="/executions/${id}">whole run</a></p></div>
<article class="panel${output === null && ' answer'}" aria-label="Answer" tabindex="-1">${output === null ? renderMarkdown(text.slice(0, MAX_CHARACTERS)) : renderOutput(output)}${
    isCut && html`<p><a href="/executions/${id}">Read the whole answer</a></p>`
  }</article>
</section>
${before && renderChange(context, last, before)}`;
}

const renderNoAnswer = (hasRun: boolean) => html`<section aria-labelledby="last">
<div class="head"><h2 id="last">Last answer</h2></div>
<div class="panel"><p class="muted">${
  hasRun
    ? 'None of the latest runs has an answer. The runs below say why.'
    : 'The answer of the first run will stand here. Run the task now to see one.'
}</p></div>
</section>`;

function renderChange(context: UserPageContext, { text, output, changes }: Answer, before: Answer): Html {
  if (output !== null && changes !== null) return renderChangeSince(context, before, renderValues(changes));
  const differences = renderDifferences(before.text, text);
  return renderChangeSince(
    context,
    before,
    html`<div class="panel gap">${
      differences ??
      html`<p class="muted">${text === before.text ? 'Nothing: both answers are the same.' : 'The answers are too long to compare here.'}</p>`
    }</div>`,
  );
}

const renderChangeSince = (
  context: UserPageContext,
  before: Answer,
  content: Html,
) => html`<section aria-labelledby="changed">
<div class="head"><h2 id="changed">What changed</h2><p>against <a href="/executions/${before.id}">${renderMoment(before.plannedFor ?? before.completedAt, context)}</a></p></div>
${content}
</section>`;
