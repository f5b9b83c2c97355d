import type { ActionError } from '@carillon/contract/actions/index';
import { translateApiMessage } from '@carillon/texts';
import { renderConversation } from '../../components/ask-form.ts';
import { type FormErrors, NO_ERRORS, renderFormError, toFormErrors, toStatus } from '../../components/fields.ts';
import { type Html, html } from '../../html.ts';
import { ASSET_URLS } from '../../http/assets.ts';
import { readForm } from '../../http/forms.ts';
import type { Page, UserPageContext } from '../../page.ts';
import { findProposal, type Proposal } from '../task-form/proposal.ts';
import { readTurn, renderTurn, type Turn, toTurn } from './turn.ts';

interface Shown {
  message?: string;
  turn?: Turn | null;
  /** Of the turn. */
  proposal?: Proposal | null;
  errors?: FormErrors;
}

function renderAgent(
  context: UserPageContext,
  { message = '', turn = null, proposal = null, errors = NO_ERRORS }: Shown,
): Page {
  const { agent, navigation } = context.texts;
  const answer = turn ? renderTurn(context, turn, proposal) : renderFormError(errors, context.texts);
  return {
    title: navigation.agent,
    subtitle: agent.subtitle,
    scripts: [ASSET_URLS.streamAnswer, ASSET_URLS.agent],
    ...((turn || errors.form !== null) && { answer }),
    body: renderConversation(context, turn ? answer : renderExamples(context), {
      action: '/agent',
      label: agent.message,
      hint: agent.hint,
      send: agent.send,
      message,
      errors,
    }),
  };
}

/** What to begin with. */
const renderExamples = ({ csrfField, texts: { agent } }: UserPageContext): Html =>
  html`<form class="panel gap examples" method="post" action="/agent/draft">${csrfField}<p>${agent.empty}</p>
<div class="do">${agent.examples.map((one) => html`<button class="suggestion" name="message" value="${one}">${one}</button>`)}</div></form>`;

export const showAgent = (context: UserPageContext): Page => renderAgent(context, {});

export async function askAgent(context: UserPageContext): Promise<Page> {
  const message = readForm(context.request).text('message');
  const result = await context.actions.askAgent(context.session, { message }, context.stream);
  if (result.success) return renderAgent(context, await withProposal(context, toTurn(message, result.data)));
  return {
    ...renderAgent(context, { message, errors: describeFailure(result, context) }),
    status: toStatus(result),
  };
}

const withProposal = async (context: UserPageContext, turn: Turn | null) => ({
  turn,
  proposal: turn?.proposalId ? await findProposal(context, turn.proposalId) : null,
});

/** Why there is no answer. */
export const describeFailure = (result: ActionError, { texts }: UserPageContext): FormErrors =>
  result.code === 'SERVICE_UNAVAILABLE'
    ? { fields: {}, form: translateApiMessage(result.error, texts) }
    : toFormErrors(result, texts);

/** Puts a suggestion into the box, to be changed before it is sent. */
export async function showDraft(context: UserPageContext): Promise<Page> {
  const form = readForm(context.request);
  return renderAgent(context, { message: form.text('message'), ...(await withProposal(context, readTurn(form))) });
}
