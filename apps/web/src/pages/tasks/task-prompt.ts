import type { TaskView } from '../../actions.ts';
import { type Html, html } from '../../html.ts';
import type { UserPageContext } from '../../page.ts';

const MAX_CHARACTERS = 480;
const MAX_LINES = 6;

/** What the task asks; of a long prompt its beginning, and the whole in a fold. */
export function renderPrompt({ texts }: UserPageContext, { task: { id, prompt, version } }: TaskView): Html {
  const { taskForm, tasks, versions } = texts;
  const beginning = [...prompt.split('\n').slice(0, MAX_LINES).join('\n')].slice(0, MAX_CHARACTERS).join('').trimEnd();
  const isWhole = beginning === prompt.trimEnd();
  return html`<section class="gap" aria-labelledby="prompt"><h2 class="vh" id="prompt">${taskForm.fields.prompt}</h2>
<p class="asked">${beginning}${!isWhole && ' …'}</p>${
    !isWhole &&
    html`<details id="whole-prompt" hx-morph-skip><summary>${tasks.wholePrompt}</summary><p class="asked">${prompt}</p></details>`
  }${
    version > 1 &&
    html`<p class="fine muted">${versions.version(version)} · <a href="/tasks/${id}/versions">${versions.seeChanges}</a></p>`
  }</section>`;
}
