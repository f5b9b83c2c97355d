import { formatCost, formatCount, formatDuration, formatLongDay, formatTime } from '../../components/format.ts';
import { type UserPageContext, unwrap } from '../../page.ts';
import { describeFailure } from './failures.ts';
import { describeOutcome, timeOf } from './outcomes.ts';
import { readRunId } from './run.ts';

/** The run as plain text, to be copied or saved without a script. */
export async function showRunAsText(context: UserPageContext): Promise<string> {
  const { run } = unwrap(await context.actions.getRun(context.session, { id: readRunId(context) }));
  const { execution, request, task, fate, isChanged } = run;
  const {
    id,
    status,
    result,
    error,
    errorCode,
    startedAt,
    processingTimeMs,
    tokens,
    costUsd,
    model,
    citations,
    truncated,
    outcome,
    outcomeReason,
  } = execution;
  const at = timeOf(execution);
  const place = `${formatLongDay(at, context.timeZone)}, ${formatTime(at, context.timeZone)} (${context.timeZone})`;
  const lines = [
    `Task:    ${task.name}`,
    `Run:     ${id}, ${place}`,
    `Outcome: ${describeOutcome({ ...execution, fate, isChanged }).text}`,
    processingTimeMs !== null && `Took:    ${formatDuration(processingTimeMs)}`,
    model !== null && `Model:   ${model}`,
    tokens !== null && `Tokens:  ${formatCount(tokens.input)} in, ${formatCount(tokens.output)} out`,
    costUsd !== null && `Cost:    ${formatCost(costUsd)}`,
    outcome !== null && `Judged:  ${outcome.replace('_', ' ')}. ${outcomeReason}`,
    truncated && 'Answer:  cut off, it reached the maximum length',
    `Address: ${context.dashboard.appUrl}/executions/${id}`,
  ];
  const failure = status === 'failed' && describeFailure(errorCode, startedAt !== null);
  return [
    lines.filter(Boolean).join('\n'),
    failure && `WHY\n${failure.why}. ${error ?? ''}\n${failure.whatToDo}`,
    result !== null && `ANSWER\n${result}`,
    citations.length > 0 &&
      `SOURCES\n${citations.map(({ url, title }, at) => `${at + 1}. ${title}\n   ${url}`).join('\n')}`,
    request?.system != null && `SYSTEM MESSAGE\n${request.system}`,
    request ? `PROMPT\n${request.prompt}` : `PROMPT OF THE TASK\n${task.prompt}`,
    '',
  ]
    .filter((part) => part !== false)
    .join('\n\n');
}
