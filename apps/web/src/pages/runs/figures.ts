import type { Texts } from '@carillon/texts';
import { renderIcon } from '../../components/status-icon.ts';
import { renderMoment } from '../../components/times.ts';
import { type Html, html } from '../../html.ts';
import type { UserPageContext } from '../../page.ts';
import { describeOutcome, type Run } from './outcomes.ts';

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
    taskVersion,
  } = execution;
  const { runs, outcomes, formats } = context.texts;
  const moment = (at: string | null) => at !== null && renderMoment(at, context);
  // Nothing came of a call that broke off: an estimated 0 says no more than that.
  const count = (tokens: number, isEstimated: boolean) =>
    !(isEstimated && tokens === 0) &&
    html`${formats.number(tokens)}${isEstimated && html` <span class="muted">${runs.estimated}</span>`}`;
  const facts: [string, Html | string | false][] = [
    [plannedFor ? runs.planned : runs.requested, moment(plannedFor ?? createdAt)],
    [runs.started, startedAt !== null && html`${moment(startedAt)}${attempt > 1 && `, ${outcomes.attempt(attempt)}`}`],
    [
      runs.ended,
      completedAt !== null && html`${moment(completedAt)}, ${formats.distance(new Date(completedAt), context.now)}`,
    ],
    [runs.duration, processingTimeMs !== null && formats.duration(processingTimeMs)],
    [runs.model, execution.model ?? request?.model ?? html`${task.model} <span class="muted">${runs.ofTask}</span>`],
    [runs.tokensIn, tokens !== null && count(tokens.input, tokens.estimated)],
    [runs.tokensOut, tokens !== null && count(tokens.output, tokens.estimated)],
    [runs.cost, costUsd !== null && formats.money(costUsd)],
    [runs.webTools, toolUses > 0 && describeTools(context.texts, toolUses, toolCostUsd)],
    [
      runs.usedVersion,
      task.version > 1 &&
        taskVersion !== null &&
        html`<a href="/tasks/${task.id}/versions/${taskVersion}">${context.texts.versions.version(taskVersion)}</a>`,
    ],
    [runs.startedBy, outcomes.startedBy[trigger]],
  ];
  return html`<section aria-labelledby="facts"><h2 id="facts" class="head">${runs.details}</h2><dl class="facts">${facts
    .filter(([, value]) => value !== false)
    .map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl></section>`;
}

/** The cost of tools is a part of the cost of the run, unless the provider reports one sum. */
const describeTools = ({ runs, formats }: Texts, uses: number, costUsd: number): string =>
  costUsd > 0 ? runs.toolUsesWithCost(uses, formats.money(costUsd)) : runs.toolUses(uses);

/** The runs of the task before and after this one, and its next planned run. */
export function renderNeighbours(
  context: UserPageContext,
  { before, after, execution, fate, isChanged, task }: Run,
): Html {
  const { runs, outcomes, formats } = context.texts;
  const own = { ...execution, fate, isChanged, at: execution.plannedFor ?? execution.createdAt };
  const entries = [...before, own, ...after].map((run) => {
    const outcome = describeOutcome(context.texts, run);
    const isOwn = run.id === execution.id;
    return entry(
      context,
      run.at,
      renderIcon(outcome.outcome),
      isOwn
        ? html`<b>${runs.thisRun}</b>`
        : html`<a href="/executions/${run.id}">${outcome.text}</a>${run.attempt > 1 && `, ${outcomes.attempt(run.attempt)}`}`,
    );
  });
  const isLast = after.length < 2;
  const { nextRunAt } = task;
  return html`<section aria-labelledby="near"><h2 id="near" class="head">${runs.nearby}</h2><ol class="times fine">${entries}${
    isLast &&
    nextRunAt !== null &&
    entry(
      context,
      nextRunAt,
      html`<span class="dot"></span>`,
      html`<span class="muted">${runs.plannedRun(formats.distance(new Date(nextRunAt), context.now))}</span>`,
    )
  }</ol><p class="fine"><a href="/executions?task=${task.id}">${runs.allRunsOfTask}</a></p></section>`;
}

const entry = (context: UserPageContext, at: string, sign: Html, content: Html) => {
  const { formats } = context.texts;
  const instant = new Date(at);
  return html`<li><time datetime="${instant.toISOString()}">${formats.day(instant, context)} ${formats.time(instant, context.timeZone)}</time><span class="node">${sign}</span><div>${content}</div></li>`;
};
