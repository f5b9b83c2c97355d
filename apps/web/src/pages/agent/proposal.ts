import { renderChannels } from '../../components/channel-choices.ts';
import { formatZone, renderSchedule } from '../../components/schedule/render.ts';
import { describeSettings } from '../../components/task-settings.ts';
import { renderMomentOn, renderTimeline } from '../../components/times.ts';
import { type Html, html } from '../../html.ts';
import { readUuid } from '../../http/path-ids.ts';
import type { Page, Redirect, UserPageContext } from '../../page.ts';
import { completeSettings, confirmProposal, type Proposal, scheduleOf } from '../task-form/proposal.ts';
import { showProposedTask } from '../task-form/show.ts';

/** The task that the agent proposes, with what can be done. `fields`: what the page needs to be shown without it. */
export function renderProposal(context: UserPageContext, proposal: Proposal, fields: Html): Html {
  const { id, task } = proposal;
  const { agent } = context.texts;
  return html`<section class="panel gap proposal" aria-labelledby="proposal-${id}"><div><p class="fine muted">${proposal.isConfirmed ? agent.savedTask : agent.proposedTask}</p>
<h2 id="proposal-${id}">${task.name}</h2>
<p class="lead">${renderSchedule(scheduleOf(task), context)}</p></div>
<pre tabindex="0" role="group" aria-label="${agent.prompt}">${task.prompt}</pre>
<div class="pairs">${renderFacts(context, proposal)}${renderNextRuns(context, proposal)}</div>
${proposal.isConfirmed ? renderSaved(context, proposal) : renderChoices(context, proposal, fields)}</section>`;
}

function renderFacts(context: UserPageContext, { task, channels }: Proposal): Html {
  const { description, aiModel, notificationEmail, webhookUrl } = task;
  const { agent } = context.texts;
  const settings = { ...completeSettings(task, context.texts), channels: [] };
  const facts: [string, Html | string | null | undefined][] = [
    [agent.description, description],
    [agent.channels, channels.length > 0 ? renderChannels(context.texts, channels) : null],
    [agent.email, notificationEmail],
    [agent.webhook, webhookUrl],
    ...describeSettings(settings, context).map(({ label, words }): [string, Html] => [label, words]),
    [agent.model, aiModel ?? agent.defaultModel],
  ];
  return html`<div><h3>${agent.details}</h3><dl class="facts after">${facts.map(
    ([name, value]) => value && html`<dt>${name}</dt><dd>${value}</dd>`,
  )}</dl></div>`;
}

function renderNextRuns({ now, texts }: UserPageContext, { task, occurrences }: Proposal): Html {
  const { agent, formats, schedule } = texts;
  const timeZone = task.timezone;
  if (occurrences.length === 0) {
    return html`<div><h3>${agent.nextRuns}</h3><p class="note after">${agent.firstRunPassed}</p></div>`;
  }
  const entries = occurrences.map(({ at, note }) => ({
    at: new Date(at),
    time: formats.time(new Date(at), timeZone),
    outcome: null,
    content: html`${formats.day(new Date(at), { now, timeZone })}${note && html`<p class="note">${note}</p>`}`,
  }));
  return html`<div><h3>${agent.nextRuns}</h3><div class="after">${renderTimeline(entries)}</div><p class="hint">${schedule.zoneTime(formatZone(timeZone))}</p></div>`;
}

const renderSaved = ({ texts: { agent } }: UserPageContext, { taskId }: Proposal): Html =>
  taskId === null
    ? html`<p>${agent.deleted}</p>`
    : html`<div class="do"><a class="button" href="/tasks/${taskId}">${agent.openTask}</a></div>`;

function renderChoices(context: UserPageContext, { id, occurrences, expiresAt }: Proposal, fields: Html): Html {
  const { csrfField } = context;
  const { agent } = context.texts;
  const canSave = occurrences.length > 0;
  return html`<form class="do" method="post" action="/agent/proposals/${id}">${csrfField}${fields}${
    canSave && html`<button class="primary">${agent.saveTask}</button>`
  }<a class="button${!canSave && ' primary'}" href="/tasks/new?proposal=${id}">${agent.editFirst}</a><button class="quiet" name="dismiss" value="${id}" formaction="/agent/draft">${agent.dismiss}</button></form>
<p class="hint">${agent.expires(renderMomentOn(expiresAt, context))}</p>`;
}

/** Saves the proposed task. What is refused is shown in the form of the task. */
export async function saveProposal(context: UserPageContext): Promise<Page | Redirect> {
  const id = readUuid(context);
  return confirmProposal(context, id, undefined, (result) => showProposedTask(context, id, result));
}
