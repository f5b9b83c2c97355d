import { parts } from '../parts.ts';
import { formats } from './formats.ts';

const { count } = formats;

/** A quota that is used, with the runs of the next 24 hours that it costs. */
interface Quota {
  resource: 'executions' | 'tokens';
  period: 'day' | 'month';
  limit: number;
  runs: number;
  tasks: number;
}

const describeQuota = ({ resource, limit }: Quota) =>
  resource === 'executions' ? count(limit, 'run', 'runs') : count(limit, 'token', 'tokens');

const describeSkipped = (runs: number, tasks: number) =>
  `${count(runs, 'run', 'runs')} of ${count(tasks, 'task', 'tasks')} ${runs === 1 ? 'is' : 'are'} skipped`;

const describeLoss = ({ runs, tasks }: Quota) => (runs > 0 ? `: ${describeSkipped(runs, tasks)}` : '');

export const home = {
  title: 'Home',
  newTask: 'New task',
  planned: (runs: number) => `${count(runs, 'run', 'runs')} in the next 24 hours`,
  nothingPlanned: 'No runs planned',
  nextDay: 'Next 24 hours',
  allTasks: 'All tasks',
  slot: (runs: number, refused: number) =>
    refused > 0 ? `${count(runs, 'run', 'runs')}, ${formats.number(refused)} skipped` : count(runs, 'run', 'runs'),
  refused: (runs: number) => `${formats.number(runs)} skipped`,
  chart: (runs: number, most: number, refused: number) => {
    const text = `Planned runs by half hour: ${formats.number(runs)} in 24 hours, up to ${formats.number(most)} in one half hour.`;
    return refused > 0 ? `${text} ${count(refused, 'more is', 'more are')} skipped.` : text;
  },
  refusals: {
    executions: 'over quota',
    tokens: 'over quota',
    trial: 'trial ended',
    budget: 'over budget',
  },
  now: 'now',
  upNext: 'Up next',
  noUpcoming: 'No runs in the next 24 hours.',
  answers: 'Latest answers',
  new: 'new',
  changed: 'changed',
  same: 'same',
  noAnswers: 'No answers in the last 24 hours.',
  allRuns: 'All runs',
  firstTask: 'Your first task',
  firstTaskText: 'Write a prompt. Carillon runs it on your schedule and keeps every answer here.',

  attention: 'Needs attention',
  noAttention: 'Nothing needs attention',
  acknowledge: 'I know',
  acknowledged: 'It is listed again when it changes.',
  notAcknowledged: 'It has changed, so it is still listed.',
  outage: (from: string, until: string, missed: number, late: number) => {
    const texts = [
      ...(missed > 0 ? [`${count(missed, 'run was', 'runs were')} missed`] : []),
      ...(late > 0 ? [`${count(late, 'run', 'runs')} started late`] : []),
    ];
    return `Carillon was away from ${from} to ${until}: ${formats.list(texts)}.`;
  },
  seeMissed: 'See missed runs',
  seeLate: 'See late runs',
  items: (items: number) => count(items, 'item', 'items'),
  andMore: (more: number) => `and ${formats.number(more)} more`,
  seeUsage: 'See usage',
  seeAlerts: 'See alerts',
  seeTask: 'See task',
  seeWhy: 'See why',
  seeSkipped: 'See skipped runs',
  seeDeliveries: 'See deliveries',
  seeAddresses: 'See addresses',
  changeBudget: 'Change budget',
  trialEnded: (runs: number, tasks: number) =>
    runs > 0 ? `The trial has ended: ${describeSkipped(runs, tasks)} in the next 24 hours.` : 'The trial has ended.',
  trialEnds: (moment: string, runs: number, tasks: number) =>
    runs > 0
      ? `The trial ends ${moment}: ${describeSkipped(runs, tasks)} in the next 24 hours.`
      : `The trial ends ${moment}.`,
  quotaUsed: (quota: Quota, until: string) =>
    `${quota.period === 'day' ? "Today's" : "This month's"} ${describeQuota(quota)} are used${describeLoss(quota)}. Runs resume ${until}.`,
  quotaEnds: (quota: Quota, from: string, until: string) =>
    `${quota.period === 'day' ? "The day's" : "This month's"} ${describeQuota(quota)} will be used ${from}${describeLoss(quota)}. Runs resume ${until}.`,
  overdue: <P>(task: P, moment: P) => parts`${task}: the run planned ${moment} has not finished.`,
  failed: <P>(task: P, failures: number, moment: P | null) => {
    const event = failures === 1 ? 'failed' : `failed ${formats.number(failures)} times in a row`;
    return moment === null
      ? parts<P | string>`${task} ${event}.`
      : parts<P | string>`${task} ${event}, last ${moment}.`;
  },
  stopped: <P>(task: P, failures: number, moment: P | null) => {
    const event = `was stopped after ${count(failures, 'failed run', 'failed runs')}`;
    return moment === null
      ? parts<P | string>`${task} ${event}.`
      : parts<P | string>`${task} ${event}, last ${moment}.`;
  },
  failedTogether: <P>(first: P, second: P, others: number, isStopped: boolean) => {
    const event = isStopped ? 'were stopped after failed runs' : 'failed';
    return others > 0
      ? parts<P | string>`${first}, ${second} and ${count(others, 'other task', 'other tasks')} ${event}.`
      : parts<P | string>`${first} and ${second} ${event}.`;
  },
  budgetTooSmall: <P>(task: P, budget: string) =>
    parts<P | string>`${task}: the monthly budget of ${budget} is too small for a run.`,
  budgetUsed: <P>(task: P, budget: string, date: string) =>
    parts<P | string>`${task}: the monthly budget of ${budget} is used. It resumes ${date}.`,
  budgetAlmostUsed: <P>(task: P, budget: string, date: string) =>
    parts<P | string>`${task}: the rest of the monthly budget of ${budget} is too small for a run. It resumes ${date}.`,
  webhookOff: <P>(webhook: P) => parts`Webhook ${webhook} is off: five attempts in a row failed.`,
  channelOff: <P>(channel: P, target: string) =>
    parts<P | string>`Channel ${channel} is off: ${target} rejected a message.`,
  unconfirmed: <P>(address: P) => parts`${address} is not confirmed. Open the link in the mail sent there.`,

  monthSoFar: (month: string) => `${month} so far`,
  usage: 'Usage',
  cost: 'Cost',
  projected: (cost: string) => `at this pace ${cost}`,
  runsTitle: 'Runs',
  runsToday: 'Runs today',
  tokens: 'Tokens',
  tokensToday: 'Tokens today',
  ofLimit: (limit: string) => `of ${limit}`,
  ofDailyLimit: (limit: string) => `of ${limit}, resets at midnight UTC`,
  costByDay: 'Cost by day (UTC)',
  costChart: (month: string, most: string) => `Cost by day in ${month}: up to ${most} a day.`,
  dayCost: (day: string, cost: string) => `${day}: ${cost}`,
  upTo: (cost: string) => `up to ${cost}`,
  noCost: 'no cost yet',
};
