import { countWords, formatMomentInText } from '../../components/format.ts';
import { type Html, html } from '../../html.ts';
import type { UserPageContext } from '../../page.ts';
import type { Run } from './outcomes.ts';

/** What was sent to the model; the prompt of the task for a run that has not started, or did not keep what it sent. */
export const renderPrompt = (context: UserPageContext, run: Run): Html =>
  run.request === null ? renderTaskPrompt(context, run) : renderRequest(run.request, run);

function renderRequest({ system, prompt, model }: NonNullable<Run['request']>, run: Run): Html {
  const messages = system === null ? 'the prompt' : 'a system message and the prompt';
  return html`<section aria-labelledby="sent"><div class="head"><h2 id="sent">What was sent</h2><p>${messages}, to ${model}</p></div>
<details id="request" hx-morph-skip><summary>Show it as it was sent</summary><div class="gap after">${
    system !== null &&
    html`<h3 id="system">System message</h3><pre tabindex="0" aria-labelledby="system">${system}</pre>`
  }<h3 id="prompt">Prompt</h3><pre tabindex="0" aria-labelledby="prompt">${prompt}</pre></div></details>${renderAttachments(run)}</section>`;
}

function renderTaskPrompt(context: UserPageContext, run: Run): Html {
  const { execution, task } = run;
  return html`<section aria-labelledby="prompt"><div class="head"><h2 id="prompt">Prompt</h2><p>${describePrompt(context, execution.startedAt, task.changedAt)}</p></div>
<pre tabindex="0" aria-labelledby="prompt">${task.prompt}</pre>${renderAttachments(run)}</section>`;
}

function renderAttachments({ task: { attachments } }: Run): Html | false {
  const names = attachments.map(
    ({ name, url }, at) => html`${at > 0 && ', '}${url === null ? name : html`<a href="${url}">${name}</a>`}`,
  );
  return (
    attachments.length > 0 &&
    html`<p class="fine muted after">${countWords(attachments.length, 'attachment')} of the task: ${names}</p>`
  );
}

function describePrompt({ timeZone, now }: UserPageContext, startedAt: string | null, changedAt: string): string {
  if (startedAt === null) return 'As the task has it now. It is sent when the run starts.';
  if (changedAt <= startedAt) return 'As sent: the task has not changed since the run started.';
  const changed = formatMomentInText(changedAt, timeZone, now);
  return `As the task has it now. This run did not keep its prompt, and the task was changed after it started: ${changed}.`;
}
