import { parts } from '../parts.ts';
import { formats } from './formats.ts';

const { count } = formats;

/** ` after 3 attempts: The server did not answer.` */
const describeAttempts = (attempts: number, reason: string | null) =>
  `${attempts > 0 ? ` after ${count(attempts, 'attempt', 'attempts')}` : ''}${reason === null ? '' : `: ${reason}`}`;

export const alerts = {
  title: 'Alerts',
  subtitle: 'Alerts from your tasks.',
  empty: 'No alerts yet. Overdue, failing, slow or expensive runs appear here.',
  emptyOfTask: 'No alerts from this task.',
  noEarlier: 'No earlier alerts.',
  seeTasks: 'See tasks',
  count: (alerts: number) => count(alerts, 'alert', 'alerts'),
  only: <P>(task: P, link: (text: string) => P) => parts`Only alerts of ${task}. ${link('Show all')}`,
  oneTask: 'one task',
  toChannel: (name: string) => `channel ${name}`,
  toWebhook: (host: string) => `webhook ${host}`,
  delivered: <P>(target: string, moment: P) => parts<P | string>`Sent to ${target} ${moment}`,
  failed: <P>(strong: (text: string) => P, target: string, attempts: number, reason: string | null) =>
    parts<P | string>`${strong('Not delivered')} to ${target}${describeAttempts(attempts, reason)}`,
  held: (target: string) => `Held by ${target}: quiet hours, minimum interval or digest`,
  waiting: (target: string, attempts: number, reason: string | null) =>
    `Waiting to be sent to ${target}${attempts > 0 ? ', again' : ''}${describeAttempts(attempts, reason)}`,
  notDelivered: 'not delivered',
  acknowledge: 'I know',
  acknowledged: 'known',
  onlyThisTask: 'Only this task',
};
