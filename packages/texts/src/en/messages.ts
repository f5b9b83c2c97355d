import { parts } from '../parts.ts';
import { formats } from './formats.ts';

const { count, number } = formats;

/** How a run ended, for the mail with its answer. */
export type ResultOutcome = 'completed' | 'changed' | 'not_done' | 'failed';

const SUBJECTS: Record<ResultOutcome, string> = {
  completed: 'run completed',
  changed: 'answer changed',
  not_done: 'run not done',
  failed: 'run failed',
};

/** Messages of channels, and mails with answers. */
export const messages = {
  levels: { success: 'Completed', failure: 'Failed', alert: 'Alert', recovery: 'Recovered', notice: 'Notice' },
  digest: 'Digest',
  answerChanged: 'Answer changed',
  untitled: 'A message',
  untitledTask: 'A task',
  allAnswers: 'all answers',
  changed: (task: string) => `${task}: the answer changed`,
  failed: (task: string) => `${task}: the run failed`,
  notDone: (task: string) => `${task}: not done`,
  digestTitle: (items: number) => count(items, 'message', 'messages'),
  digestText: (items: number) => `The ${number(items)} most important ones are listed.`,
  test: 'It works',
  testText: 'This is a test message from Carillon.',

  cutOff: 'This answer is cut off: it reached the maximum length.',
  answer: 'The answer',
  changes: 'What changed',
  sources: 'Sources',
  wholeAnswer: 'the whole answer',
  moreChanges: 'There are further changes.',
  value: 'Value',
  before: 'Before',
  after: 'After',
  missing: 'missing',
  empty: '(empty)',
  continues: 'continues in Carillon',
  open: 'Open in Carillon',
  openItem: 'open',
  allRuns: 'All runs in Carillon',
  contents: 'In this mail',
  andMore: (items: number) => `And ${number(items)} more.`,
  others: 'The others are only in Carillon.',
  footer: <P>(account: P, channel: string) =>
    parts<P | string>`The Carillon account ${account} sends you this through its channel “${channel}”.`,
  unsubscribe: 'Unsubscribe',

  resultSubject: (task: string, outcome: ResultOutcome) => `Task "${task}": ${SUBJECTS[outcome]}`,
  resultText: (task: string, outcome: ResultOutcome) =>
    outcome === 'not_done'
      ? `A run of the task "${task}" did not do what it is for.`
      : `A run of the task "${task}" ${outcome === 'failed' ? 'failed' : 'completed'}.`,
  resultNotDone: (reason: string) => `Not done: ${reason}`,
  resultDiffers: (changes: string) => `The answer differs from the previous one:\n\n${changes}\n\nThe answer:\n\n`,
  resultIsLonger: '(This is the beginning. The whole answer is on the page of the run.)',
  run: (url: string) => `The run: ${url}`,
  resultFooter: (account: string) =>
    `You get this because the Carillon account ${account} sends the answers of this task to this address.`,
};
