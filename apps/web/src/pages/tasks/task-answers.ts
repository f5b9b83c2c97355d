import type { Texts } from '@carillon/texts';
import type { TaskView } from '../../actions.ts';
import { renderAnswerDifferences } from '../../components/answer/answer-differences.ts';
import { renderMarkdown } from '../../components/answer/markdown.ts';
import { renderOutput } from '../../components/answer/output.ts';
import { renderMoment } from '../../components/times.ts';
import { type Html, html } from '../../html.ts';
import type { UserPageContext } from '../../page.ts';
import { renderValues } from '../runs/changes.ts';

type Answer = TaskView['answers'][number];

/** Longer answers are shown on the page of their run. */
const MAX_CHARACTERS = 20_000;

/** The last answer, and what has changed since the one before. */
export function renderAnswers(context: UserPageContext, { answers, runs }: TaskView): Html {
  const { texts } = context;
  const { tasks } = texts;
  const [last, before] = answers;
  if (!last) return renderNoAnswer(texts, runs.length > 0);
  const { id, text, output, model, plannedFor, completedAt } = last;
  const isCut = text.length > MAX_CHARACTERS;
  return html`<section aria-labelledby="last">
<div class="head"><h2 id="last">${tasks.lastAnswer}</h2><p>${renderMoment(plannedFor ?? completedAt, context)}${model && ` · ${model}`} · <a href="/executions/${id}">${tasks.wholeRun}</a></p></div>
<article class="panel${output === null && ' answer'}" aria-label="${texts.runs.answer}" tabindex="-1">${output === null ? renderMarkdown(text.slice(0, MAX_CHARACTERS), texts) : renderOutput(output, texts)}${
    isCut && html`<p><a href="/executions/${id}">${tasks.readWhole}</a></p>`
  }</article>
</section>
${before && renderChange(context, last, before)}`;
}

const renderNoAnswer = ({ tasks }: Texts, hasRun: boolean) => html`<section aria-labelledby="last">
<div class="head"><h2 id="last">${tasks.lastAnswer}</h2></div>
<div class="panel"><p class="muted">${hasRun ? tasks.noneAnswered : tasks.noAnswer}</p></div>
</section>`;

function renderChange(context: UserPageContext, { text, output, changes }: Answer, before: Answer): Html {
  const { texts } = context;
  if (output !== null && changes !== null) return renderChangeSince(context, before, renderValues(changes, texts));
  const differences = renderAnswerDifferences(before.text, text, texts);
  return renderChangeSince(context, before, html`<div class="panel gap">${differences}</div>`);
}

const renderChangeSince = (
  context: UserPageContext,
  before: Answer,
  content: Html,
) => html`<section aria-labelledby="changed">
<div class="head"><h2 id="changed">${context.texts.runs.changes}</h2><p>${context.texts.runs.since(html`<a href="/executions/${before.id}">${renderMoment(before.plannedFor ?? before.completedAt, context)}</a>`)}</p></div>
${content}
</section>`;
