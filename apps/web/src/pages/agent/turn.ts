import { isUuid } from '@carillon/contract/validation/formats';
import type { Texts } from '@carillon/texts';
import type { WebActionData } from '../../actions.ts';
import { renderMarkdown } from '../../components/answer/markdown.ts';
import { buildAddress } from '../../components/tables.ts';
import { type Html, html } from '../../html.ts';
import type { Form } from '../../http/forms.ts';
import type { UserPageContext } from '../../page.ts';
import { nameTask } from '../task-form/name-task.ts';
import type { Proposal } from '../task-form/proposal.ts';
import { renderProposal } from './proposal.ts';

/** A message and its answer. They are on the page only: nothing of them is stored. */
export interface Turn {
  asked: string;
  content: string;
  model: string;
  inputTokens: number;
  outputTokens: number;
  ms: number;
  suggestions: readonly string[];
  /** The id of the proposed task. */
  proposalId: string | null;
}

export function toTurn(asked: string, { response, suggestions, proposal }: WebActionData<'askAgent'>): Turn {
  const { content, model, tokensUsed, processingTimeMs } = response;
  const { input, output } = tokensUsed;
  const counts = { inputTokens: input, outputTokens: output, ms: processingTimeMs };
  return { asked, content, model, ...counts, suggestions, proposalId: proposal?.id ?? null };
}

const MAX_SUGGESTIONS = 5;
/** More than a model answers here, and little enough to render whatever a form sends. */
const MAX_CHARACTERS = 20_000;

/** Reads a turn that a form sends back. Null without an answer. */
export function readTurn(form: Form): Turn | null {
  const number = (name: string) => Math.max(0, Math.trunc(Number(form.text(name)) || 0));
  const content = form.text('content').slice(0, MAX_CHARACTERS);
  if (content === '') return null;
  const proposal = form.text('proposal');
  return {
    asked: form.text('asked'),
    content,
    model: form.text('model'),
    inputTokens: number('input'),
    outputTokens: number('output'),
    ms: number('ms'),
    suggestions: form.list('suggestion').slice(0, MAX_SUGGESTIONS),
    proposalId: isUuid(proposal) && !form.has('dismiss') ? proposal : null,
  };
}

const hidden = (name: string, value: string | number) => html`<input type="hidden" name="${name}" value="${value}">`;

const renderFields = (turn: Turn): Html => {
  const { asked, content, model, inputTokens, outputTokens, ms, suggestions, proposalId } = turn;
  return html`${hidden('asked', asked)}${hidden('content', content)}${hidden('model', model)}${hidden('input', inputTokens)}${hidden('output', outputTokens)}${hidden('ms', ms)}${suggestions.map((one) => hidden('suggestion', one))}${proposalId !== null && hidden('proposal', proposalId)}`;
};

/** Servers and proxies refuse long addresses. */
const MAX_ADDRESS = 2000;

function renderTaskButton(prompt: string, texts: Texts): Html {
  const { createTask } = texts.agent;
  const address = buildAddress('/tasks/new', { name: nameTask(prompt, texts), prompt });
  if (address.length > MAX_ADDRESS) return html`<button formaction="/agent/task">${createTask}</button>`;
  return html`<a class="button" href="${address}">${createTask}</a>`;
}

/** The answer with what can be done next. */
export function renderTurn(context: UserPageContext, turn: Turn, proposal: Proposal | null): Html {
  const { csrfField, texts } = context;
  const { agent, formats } = texts;
  const { asked, content, model, inputTokens, outputTokens, ms, suggestions } = turn;
  return html`<article class="turn gap" aria-label="${agent.turn}">
<p class="asked">${asked}</p>
<h2 class="vh">${agent.answer}</h2>
<div class="panel answer">${renderMarkdown(content, texts)}</div>
<p class="fine muted">${model} · ${agent.tokens(inputTokens, outputTokens)} · ${formats.duration(ms)}</p>
${proposal && renderProposal(context, proposal, renderFields(turn))}
<form class="do" method="post" action="/agent/draft">${csrfField}${renderFields(turn)}${proposal === null && renderTaskButton(asked, texts)}${suggestions.map(
    (one) => html`<button class="suggestion" name="message" value="${one}">${one}</button>`,
  )}</form>
</article>`;
}
