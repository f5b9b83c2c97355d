import type { Texts } from '@carillon/texts';
import { type Html, html } from '../../html.ts';
import type { UserPageContext } from '../../page.ts';
import type { Run } from './outcomes.ts';

/** What was sent to the model; the prompt of the task for a run that has not started, or did not keep what it sent. */
export const renderPrompt = (context: UserPageContext, run: Run): Html =>
  run.request === null ? renderTaskPrompt(context, run) : renderRequest(context.texts, run.request, run);

function renderRequest(texts: Texts, { system, prompt, model }: NonNullable<Run['request']>, run: Run): Html {
  const { runs } = texts;
  return html`<section aria-labelledby="sent"><div class="head"><h2 id="sent">${runs.request}</h2><p>${runs.requestTo(model, system !== null)}</p></div>
<details id="request" hx-morph-skip><summary>${runs.showRequest}</summary><div class="gap after">${
    system !== null &&
    html`<h3 id="system">${runs.systemMessage}</h3><pre tabindex="0" role="group" aria-labelledby="system">${system}</pre>`
  }<h3 id="prompt">${runs.prompt}</h3><pre tabindex="0" role="group" aria-labelledby="prompt">${prompt}</pre></div></details>${renderAttachments(texts, run)}</section>`;
}

function renderTaskPrompt(context: UserPageContext, run: Run): Html {
  const { execution, task } = run;
  return html`<section aria-labelledby="prompt"><div class="head"><h2 id="prompt">${context.texts.runs.prompt}</h2><p>${describePrompt(context, execution.startedAt, task.changedAt)}</p></div>
<pre tabindex="0" role="group" aria-labelledby="prompt">${task.prompt}</pre>${renderAttachments(context.texts, run)}</section>`;
}

function renderAttachments({ runs }: Texts, { task: { attachments } }: Run): Html | false {
  const names = attachments.map(
    ({ name, url }, at) => html`${at > 0 && ', '}${url === null ? name : html`<a href="${url}">${name}</a>`}`,
  );
  return (
    attachments.length > 0 &&
    html`<p class="fine muted after">${runs.attachments(attachments.length, html`${names}`)}</p>`
  );
}

function describePrompt(context: UserPageContext, startedAt: string | null, changedAt: string): string {
  const { runs, formats } = context.texts;
  if (startedAt === null) return runs.promptNotSent;
  if (changedAt <= startedAt) return runs.promptSent;
  return runs.promptChanged(formats.moment(new Date(changedAt), context));
}
