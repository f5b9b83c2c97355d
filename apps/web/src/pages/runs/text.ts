import { translateApiMessage } from '@carillon/texts';
import { readId } from '../../http/path-ids.ts';
import { type UserPageContext, unwrap } from '../../page.ts';
import { describeFailure } from './failures.ts';
import { describeCut, describeOutcome, timeOf } from './outcomes.ts';

/** The run as plain text, to be copied or saved without a script. */
export async function showRunAsText(context: UserPageContext): Promise<string> {
  const { run } = unwrap(await context.actions.getRun(context.session, { id: readId(context) }));
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
  const { texts, timeZone } = context;
  const { formats, runs } = texts;
  const label = runs.text;
  const at = timeOf(execution);
  const place = `${formats.longDay(at, timeZone)}, ${formats.time(at, timeZone)} (${timeZone})`;
  const { text: state } = describeOutcome(texts, { ...execution, fate, isChanged });
  const lines: [string, string | false][] = [
    [label.task, task.name],
    [label.run, `${id}, ${place}`],
    [label.outcome, state],
    [label.duration, processingTimeMs !== null && formats.duration(processingTimeMs)],
    [label.model, model ?? false],
    [label.tokens, tokens !== null && label.tokenCounts(formats.number(tokens.input), formats.number(tokens.output))],
    [label.cost, costUsd !== null && formats.money(costUsd)],
    [label.judgement, outcome !== null && `${runs.judgements[outcome]}. ${outcomeReason}`],
    [label.answer, truncated && describeCut(texts, run)],
    [label.url, `${context.dashboard.appUrl}/executions/${id}`],
  ];
  const width = Math.max(...lines.map(([name]) => name.length));
  const failure = status === 'failed' && describeFailure(context, errorCode, startedAt !== null);
  return [
    lines.flatMap(([name, value]) => (value === false ? [] : [`${name.padEnd(width)} ${value}`])).join('\n'),
    failure &&
      `${label.reason}\n${failure.why}. ${errorCode === 'CANCELLED' ? '' : translateApiMessage(error ?? '', texts)}\n${failure.whatToDo}`,
    result !== null && `${label.answerTitle}\n${result}`,
    citations.length > 0 &&
      `${label.sources}\n${citations.map(({ url, title }, at) => `${at + 1}. ${title}\n   ${url}`).join('\n')}`,
    request?.system != null && `${label.systemMessage}\n${request.system}`,
    request ? `${label.prompt}\n${request.prompt}` : `${label.promptOfTask}\n${task.prompt}`,
    '',
  ]
    .filter((part) => part !== false)
    .join('\n\n');
}
