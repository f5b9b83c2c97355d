import { isUuid } from '@carillon/contract/validation/formats';
import { renderChannels } from '../../components/channel-choices.ts';
import { formatDay, formatMomentInText, formatTime } from '../../components/format.ts';
import { formatZone, renderSchedule } from '../../components/schedule/render.ts';
import { describeSettings } from '../../components/task-settings.ts';
import { renderTimeline, tidyNote } from '../../components/times.ts';
import { type Html, html } from '../../html.ts';
import { ActionFailed, type Page, type Redirect, type UserPageContext } from '../../page.ts';
import { completeSettings, confirmProposal, type Proposal, scheduleOf } from '../task-form/proposal.ts';
import { showProposedTask } from '../task-form/submit.ts';

/** The task that the agent proposes, with what can be done. `fields`: what the page needs to be shown without it. */
export function renderProposal(context: UserPageContext, proposal: Proposal, fields: Html): Html {
  const { id, task } = proposal;
  return html`<section class="panel gap proposal" aria-labelledby="proposal-${id}"><div><p class="fine muted">${proposal.isConfirmed ? 'Saved task' : 'Proposed task'}</p>
<h2 id="proposal-${id}">${task.name}</h2>
<p class="lead">${renderSchedule(scheduleOf(task), context.timeZone)}</p></div>
<pre tabindex="0" aria-label="Prompt">${task.prompt}</pre>
<div class="pairs">${renderFacts(context, proposal)}${renderNextRuns(context, proposal)}</div>
${proposal.isConfirmed ? renderSaved(proposal) : renderChoices(context, proposal, fields)}</section>`;
}

function renderFacts({ now, timeZone, texts }: UserPageContext, { task, channels }: Proposal): Html {
  const { description, aiModel, notificationEmail, webhookUrl } = task;
  const settings = { ...completeSettings(task), channels: [] };
  const facts: [string, Html | string | null | undefined][] = [
    ['About', description],
    ['Sends to', channels.length > 0 ? renderChannels(texts, channels) : null],
    ['Mail to', notificationEmail],
    ['Webhook', webhookUrl],
    ...describeSettings(settings, { now, timeZone }).map(({ label, words }): [string, Html] => [label, words]),
    ['Model', aiModel ?? 'the default of this server'],
  ];
  return html`<div><h3>What it does</h3><dl class="facts after">${facts.map(
    ([name, value]) => value && html`<dt>${name}</dt><dd>${value}</dd>`,
  )}</dl></div>`;
}

function renderNextRuns({ now }: UserPageContext, { task: { timezone }, occurrences }: Proposal): Html {
  if (occurrences.length === 0) {
    return html`<div><h3>Next runs</h3><p class="note after">The first run has passed. Choose another time first.</p></div>`;
  }
  const entries = occurrences.map(({ at, note }) => ({
    at: new Date(at),
    time: formatTime(new Date(at), timezone),
    outcome: null,
    content: html`${formatDay(new Date(at), timezone, now)}${note && html`<p class="note">${tidyNote(note)}</p>`}`,
  }));
  return html`<div><h3>Next runs</h3><div class="after">${renderTimeline(entries)}</div><p class="hint">${formatZone(timezone)} time</p></div>`;
}

const renderSaved = ({ taskId }: Proposal): Html =>
  taskId === null
    ? html`<p>This task was saved, and deleted since.</p>`
    : html`<div class="do"><a class="button" href="/tasks/${taskId}">Open the task</a></div>`;

function renderChoices(
  { csrfField, now, timeZone }: UserPageContext,
  { id, occurrences, expiresAt }: Proposal,
  fields: Html,
): Html {
  const canSave = occurrences.length > 0;
  return html`<form class="do" method="post" action="/agent/proposals/${id}">${csrfField}${fields}${
    canSave && html`<button class="primary">Save this task</button>`
  }<a class="button${!canSave && ' primary'}" href="/tasks/new?proposal=${id}">Change first</a><button class="quiet" name="dismiss" value="${id}" formaction="/agent/draft">Not now</button></form>
<p class="hint">Nothing is saved yet. It can be saved until ${formatMomentInText(expiresAt, timeZone, now)}.</p>`;
}

/** Saves the proposed task. What is refused is shown in the form of the task. */
export async function saveProposal(context: UserPageContext): Promise<Page | Redirect> {
  const { id } = context.request.params as { id: string };
  if (!isUuid(id)) throw new ActionFailed({ success: false, error: 'Not found', code: 'NOT_FOUND' });
  return confirmProposal(context, id, undefined, (result) => showProposedTask(context, id, result));
}
