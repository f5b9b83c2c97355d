import { renderMarkdown } from '../../components/answer/markdown.ts';
import { renderConversation } from '../../components/ask-form.ts';
import { type FormErrors, NO_ERRORS } from '../../components/fields.ts';
import { renderMoment } from '../../components/times.ts';
import { EMPTY, type Html, html } from '../../html.ts';
import type { UserPageContext } from '../../page.ts';
import type { Run } from './outcomes.ts';

type Question = Run['questions'][number];

/** Whether there is an answer to ask about. */
export const canAsk = ({ execution: { status, result } }: Run): boolean =>
  status === 'completed' && result !== null && result.trim() !== '';

/** What was asked about the answer, oldest first, and a box for another question. */
export function renderQuestions(
  context: UserPageContext,
  run: Run,
  { message = '', errors = NO_ERRORS }: { message?: string; errors?: FormErrors } = {},
): Html {
  if (!canAsk(run)) return EMPTY;
  const { execution, questions, task } = run;
  const { id } = execution;
  const { runs } = context.texts;
  const turns = questions.map((question) => renderQuestion(context, question, task.id));
  const form = renderConversation(context, html`${turns}`, {
    action: `/executions/${id}/ask`,
    label: runs.question,
    hint: runs.questionHint,
    send: runs.ask,
    message,
    errors,
  });
  return html`<section class="gap" aria-labelledby="questions"><div class="head"><h2 id="questions">${runs.questions}</h2></div>${form}</section>`;
}

/** A question with its answer. */
export function renderQuestion(context: UserPageContext, question: Question, taskId: number): Html {
  const { agent, runs } = context.texts;
  const { id, message, content, model, createdAt } = question;
  return html`<article class="turn gap" aria-label="${agent.turn}"><p class="asked">${message}</p>
<h3 class="vh">${agent.answer}</h3><div class="panel answer">${renderMarkdown(content, context.texts)}</div>
<p class="fine muted">${renderMoment(createdAt, context)} · ${model} · <a href="/tasks/${taskId}/edit?remember=${id}" title="${runs.rememberHint}">${runs.remember}</a></p></article>`;
}
