import { type Html, html } from '../../html.ts';
import { countWords, formatMomentInText } from '../../parts/format.ts';
import type { SignedInVisit } from '../../visit.ts';
import type { Run } from './outcomes.ts';

/** A run does not keep its request: the page shows the prompt of the task, which may have changed since. */
export function renderPrompt(visit: SignedInVisit, { execution: { startedAt }, task }: Run): Html {
  const { prompt, attachments } = task;
  const names = attachments.map(
    ({ name, url }, at) => html`${at > 0 && ', '}${url === null ? name : html`<a href="${url}">${name}</a>`}`,
  );
  return html`<section aria-labelledby="prompt"><div class="head"><h2 id="prompt">Prompt</h2><p>${describePrompt(visit, startedAt, task.changedAt)}</p></div>
<pre tabindex="0" aria-labelledby="prompt">${prompt}</pre>${
    attachments.length > 0 && html`<p class="fine muted">${countWords(attachments.length, 'attachment')}: ${names}</p>`
  }</section>`;
}

function describePrompt({ timeZone, now }: SignedInVisit, startedAt: string | null, changedAt: string): string {
  if (startedAt === null) return 'As the task has it now. It is sent when the run starts.';
  if (changedAt <= startedAt) return 'As sent: the task has not changed since the run started.';
  const changed = formatMomentInText(changedAt, timeZone, now);
  return `As the task has it now. A run does not keep its prompt, and the task was changed after this run started: ${changed}.`;
}
