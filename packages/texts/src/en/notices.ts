import { formats } from './formats.ts';

const { count, number } = formats;

/** The beginning of a sentence that ends with an error, which is English in every language. */
const lastError = (error: string) => `Last error: ${error}`;

/** Notifications and alerts. Those are kept, so moments have a date. */
export const notices = {
  overdue: (task: string) => `Task "${task}" is overdue`,
  overdueText: (moment: string, minutes: number) =>
    `The run planned for ${moment} did not finish within ${count(minutes, 'minute', 'minutes')}.`,
  failed: (task: string, failures: number) =>
    failures === 1 ? `Task "${task}" failed` : `Task "${task}" failed ${number(failures)} times in a row`,
  notDone: (task: string, runs: number) => inRow(`Task "${task}" did not do what it is for`, runs),
  degraded: (task: string, runs: number) => inRow(`A fallback model answered the task "${task}"`, runs),
  lastError,
  lastRun: (reason: string) => `Last run: ${reason}`,
  stopped: (task: string, failures: number) =>
    `Task "${task}" was stopped after ${count(failures, 'failed run', 'failed runs')}`,
  stoppedText: (error: string) => `It will not run again until you resume it. ${lastError(error)}`,
  recovered: (task: string) => `Task "${task}" works again`,
  recoveredText: (moment: string, byRun: boolean) =>
    `${byRun ? 'A run completed.' : 'Its sources can be read again.'} The first alert was sent on ${moment}.`,
  sourcesFailed: (task: string, sources: readonly string[]) =>
    sources.length === 1
      ? `The source "${sources[0]}" of the task "${task}" cannot be read`
      : `The sources of the task "${task}" cannot be read`,
  expensive: (task: string, cost: string) => `A run of the task "${task}" cost ${cost}`,
  slow: (task: string, duration: string) => `A run of the task "${task}" took ${duration}`,
  limit: (limit: string) => `The alert limit is ${limit}.`,
  undelivered: 'An alert could not be delivered',
  undeliveredText: (alert: string, by: 'webhook' | 'mail' | { channel: string }, error: string | null) => {
    const way = typeof by === 'string' ? by : `the channel "${by.channel}"`;
    return `"${alert}" was not delivered by ${way}. ${error === null ? 'It is off since it failed.' : lastError(error)}`;
  },

  overBudget: (task: string) => `Task "${task}" has reached its monthly budget`,
  overBudgetText: (budget: string, moment: string) =>
    `The rest of its budget of ${budget} is too small for another run. It can run again from ${moment}, or when you raise the budget.`,
  usage: (percent: string, resource: 'executions' | 'tokens' | 'storage') =>
    `${percent} of your ${resource === 'executions' ? 'runs' : resource} are used`,
  usageText: (used: string, limit: string, resource: 'executions' | 'tokens' | 'storage', percent: string) =>
    ({
      executions: `${used} of this month's ${limit} runs are used (${percent}).`,
      tokens: `${used} of this month's ${limit} tokens are used (${percent}).`,
      storage: `${used} of ${limit} of storage are used (${percent}).`,
    })[resource],
  trialEnded: 'The trial has ended',
  trialEndedText: (runs: number, tasks: number) =>
    `Your tasks no longer run: ${describeRuns(runs, tasks)} in the next 24 hours are skipped.`,
  quotaUsed: (resource: 'executions' | 'tokens', period: 'day' | 'month') =>
    `${period === 'month' ? "This month's" : "Today's"} ${resource === 'tokens' ? 'tokens' : 'runs'} are used`,
  quotaUsedText: (
    resource: 'executions' | 'tokens',
    limit: number,
    runs: number,
    tasks: number,
    moment: string | null,
  ) => {
    const text = `All ${number(limit)} ${resource === 'tokens' ? 'tokens' : 'runs'} are used, so ${describeRuns(runs, tasks)} are skipped.`;
    return moment === null ? text : `${text} Runs resume on ${moment}.`;
  },

  webhookFailed: (host: string, task: string | null) =>
    task === null ? `The webhook to ${host} failed` : `The webhook of the task "${task}" to ${host} failed`,
  channelFailed: (kind: string, name: string) => `The ${kind} channel "${name}" failed`,
  endpointFailedText: (error: string) =>
    `Nothing more is sent to it until you switch it on again. You can then resend what failed. ${lastError(error)}`,
  unsubscribed: (channel: string) => `The mail of the channel "${channel}" was unsubscribed`,
  unsubscribedText: (address: string, isOwn: boolean) =>
    isOwn
      ? `Someone used the unsubscribe link in a mail to ${address}. This channel sends nothing there until you switch it on again.`
      : `Someone used the unsubscribe link in a mail to ${address}. Your account sends nothing there any more. When you switch a channel to it on again, the address must confirm first.`,

  modelGone: (model: string) => `The model ${model} is gone from its provider's list`,
  modelEnds: (model: string, date: string) => `The model ${model} ends on ${date}`,
  modelText: (provider: string, isGone: boolean) =>
    `Active tasks use it, and the provider "${provider}" ${isGone ? 'no longer lists it' : 'announces its end'}. Choose another model before it stops answering.`,

  schedulerSilent: 'The scheduler is silent',
  schedulerSilentText: (moment: string) =>
    `Its last call was on ${moment}. The API processes start runs themselves, up to a minute late. Check that the scheduler runs, and that it has the API_URL and CRON_SECRET of the API.`,
  schedulerBack: 'The scheduler calls again',
  schedulerBackText: (moment: string) => `It was silent since ${moment}.`,

  backupOld: 'The last backup is old',
  backupOldText: (days: number) =>
    `It was made ${days} days ago. Run "carillon backup", and check the job that runs it regularly.`,
};

function describeRuns(runs: number, tasks: number) {
  return `${count(runs, 'planned run', 'planned runs')} of ${count(tasks, 'task', 'tasks')}`;
}

function inRow(event: string, runs: number) {
  return runs === 1 ? event : `${event} ${number(runs)} times in a row`;
}
