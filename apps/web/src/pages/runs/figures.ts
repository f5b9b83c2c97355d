import {
  countWords,
  formatCost,
  formatCount,
  formatDay,
  formatDistance,
  formatDuration,
  formatTime,
} from '../../components/format.ts';
import { renderIcon } from '../../components/status-icon.ts';
import { renderMoment } from '../../components/times.ts';
import { type Html, html } from '../../html.ts';
import type { UserPageContext } from '../../page.ts';
import { describeOutcome, type Run, TRIGGERS } from './outcomes.ts';

export function renderFacts(context: UserPageContext, { execution, request, task, toolCostUsd }: Run): Html {
  const {
    toolUses,
    plannedFor,
    createdAt,
    startedAt,
    completedAt,
    attempt,
    processingTimeMs,
    tokens,
    costUsd,
    trigger,
  } = execution;
  const moment = (at: string | null) => at !== null && renderMoment(at, context);
  const estimate = tokens?.estimated && html` <span class="muted">(estimated)</span>`;
  const facts: [string, Html | string | false][] = [
    [plannedFor ? 'Planned' : 'Asked for', moment(plannedFor ?? createdAt)],
    ['Started', startedAt !== null && html`${moment(startedAt)}${attempt > 1 && `, attempt ${attempt}`}`],
    [
      'Ended',
      completedAt !== null && html`${moment(completedAt)}, ${formatDistance(new Date(completedAt), context.now)}`,
    ],
    ['Took', processingTimeMs !== null && formatDuration(processingTimeMs)],
    ['Model', execution.model ?? request?.model ?? html`${task.model} <span class="muted">(of the task)</span>`],
    ['Tokens in', tokens !== null && html`${formatCount(tokens.input)}${estimate}`],
    ['Tokens out', tokens !== null && html`${formatCount(tokens.output)}${estimate}`],
    ['Cost', costUsd !== null && formatCost(costUsd)],
    ['Web tools', toolUses > 0 && describeTools(toolUses, toolCostUsd)],
    ['Trigger', TRIGGERS[trigger]],
  ];
  return html`<section aria-labelledby="facts"><h2 id="facts" class="head">In figures</h2><dl class="facts">${facts
    .filter(([, value]) => value !== false)
    .map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl></section>`;
}

/** The cost of tools is a part of the cost of the run, unless the provider reports one sum. */
const describeTools = (uses: number, costUsd: number): string =>
  `${countWords(uses, 'use')}${costUsd > 0 ? `, ${formatCost(costUsd)} of the cost` : ''}`;

/** The runs of the task before and after this one, and its next planned run. */
export function renderNeighbours(
  context: UserPageContext,
  { before, after, execution, fate, isChanged, task }: Run,
): Html {
  const own = { ...execution, fate, isChanged, at: execution.plannedFor ?? execution.createdAt };
  const entries = [...before, own, ...after].map((run) => {
    const outcome = describeOutcome(run);
    const isOwn = run.id === execution.id;
    return entry(
      context,
      run.at,
      renderIcon(outcome.outcome),
      isOwn
        ? html`<b>This run</b>`
        : html`<a href="/executions/${run.id}">${outcome.text}</a>${run.attempt > 1 && `, attempt ${run.attempt}`}`,
    );
  });
  const isLast = after.length < 2;
  const { nextRunAt } = task;
  return html`<section aria-labelledby="near"><h2 id="near" class="head">Around it</h2><ol class="times fine">${entries}${
    isLast &&
    nextRunAt !== null &&
    entry(
      context,
      nextRunAt,
      html`<span class="dot"></span>`,
      html`<span class="muted">Planned, ${formatDistance(new Date(nextRunAt), context.now)}</span>`,
    )
  }</ol><p class="fine"><a href="/executions?task=${task.id}">All runs of this task</a></p></section>`;
}

const entry = ({ timeZone, now }: UserPageContext, at: string, sign: Html, content: Html) => {
  const instant = new Date(at);
  return html`<li><time datetime="${instant.toISOString()}">${formatDay(instant, timeZone, now)} ${formatTime(instant, timeZone)}</time><span class="node">${sign}</span><div>${content}</div></li>`;
};
