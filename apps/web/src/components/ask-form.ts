import { type Html, html } from '../html.ts';
import type { UserPageContext } from '../page.ts';
import { type FormErrors, renderField, renderFormError } from './fields.ts';

const MAX_CHARACTERS = 32_000;

interface AskForm {
  /** Of an answer that may be a stream. */
  action: string;
  label: string;
  hint: string;
  send: string;
  message: string;
  errors: FormErrors;
}

/** Turns, and the form that adds one: `assets/agent.js` shows its answer while it is written. */
export function renderConversation(
  { csrfField, texts }: UserPageContext,
  turns: Html,
  { action, label, hint, send, message, errors }: AskForm,
): Html {
  const { agent } = texts;
  const { writing, stopped, incomplete, noAnswer } = agent;
  const scriptTexts = { stopped, incomplete, noAnswer };
  return html`<section class="gap-l" id="conversation" aria-label="${agent.conversation}" aria-live="polite">${turns}</section>
<template id="turn"><article class="turn gap" aria-label="${agent.turn}" aria-busy="true"><p class="asked"></p><h2 class="vh">${agent.answer}</h2><div class="panel answer plain-text"></div><p class="fine muted" data-state>${writing}</p></article></template>
<form class="ask gap" id="ask" method="post" action="${action}" data-texts="${JSON.stringify(scriptTexts)}">${csrfField}
<div id="problem">${renderFormError(errors, texts)}</div>
${renderField(
  { name: 'message', label, hint, errors },
  (common) => html`<textarea ${common} required maxlength="${MAX_CHARACTERS}" rows="4">
${message}</textarea>`,
)}
<div class="do"><button class="primary">${send}</button><button type="button" id="stop" hidden>${agent.stop}</button></div>
</form>`;
}
