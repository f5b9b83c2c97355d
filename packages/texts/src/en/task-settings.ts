import { parts } from '../parts.ts';
import { formats } from './formats.ts';

const { count, list, money, duration } = formats;

/** The settings of a task that are not the default: a label, and what is set. */
export const taskSettings = {
  runIf: 'Condition',
  onlyChanged: 'only if something has changed',
  context: 'Context',
  clockAndAnswer: 'date, time and last answer',
  onlyAnswer: 'last answer',
  onlyPrompt: 'prompt only',
  toolNames: { web_search: 'search', web_fetch: 'pages' },
  tools: (names: readonly string[], uses: number) => `${list(names)}, up to ${count(uses, 'use', 'uses')} per run`,
  required: 'required',
  answerFormat: 'Answer format',
  jsonSchema: 'JSON schema',
  jsonWith: <P>(names: P) => parts`JSON with ${names}`,
  jsonWithMore: <P>(names: P, more: number) => parts<P | string>`JSON with ${names} and ${formats.number(more)} more`,
  onNews: 'only when there is news',
  onFailure: 'only when a run fails',
  onChange: 'only when the answer changes',
  onChangeOf: <P>(values: P) => parts`only for changes of ${values}`,
  overdue: (minutes: number) => `${formats.number(minutes)} min overdue`,
  failures: (failures: number) => `${count(failures, 'failure', 'failures')} in a row`,
  costAbove: (usd: number) => `cost above ${money(usd)}`,
  durationAbove: (ms: number) => `duration above ${duration(ms)}`,
  fallbackAnswers: (answers: number) => `${count(answers, 'fallback answer', 'fallback answers')} in a row`,
  none: 'none',
  missedSkipped: 'skipped',
  missedRun: 'run, up to 10',
  overlapQueued: 'queued',
  overlapStops: 'stop the previous run',
};
