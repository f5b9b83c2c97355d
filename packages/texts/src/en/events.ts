/** As a list of events says them. */
const names = {
  'execution.completed': 'run completed',
  'execution.failed': 'run failed',
  'execution.started': 'run started',
  'task.completed': 'run completed (not inbound)',
  'task.failed': 'run failed (not inbound)',
  'task.started': 'run started (not inbound)',
  'task.created': 'task created',
  'task.updated': 'task changed',
  'task.deleted': 'task deleted',
  'task.changed': 'answer changed',
  'task.overdue': 'run overdue',
  'task.failing': 'task failing',
  'task.recovered': 'task recovered',
  'task.expensive': 'run too expensive',
  'task.slow': 'run too slow',
  'task.degraded': 'fallback model in use',
  'scheduler.silent': 'scheduler silent',
  'usage.alert': 'usage alert',
  test: 'test',
};

const hints: Record<Exclude<keyof typeof names, 'test'>, string> = {
  'execution.completed': 'With the answer, the tokens and the duration.',
  'execution.failed': 'With the error, and whether another attempt follows.',
  'execution.started': 'With the task and the time.',
  'task.completed': 'Not for runs that an inbound webhook started.',
  'task.failed': 'Not for runs that an inbound webhook started.',
  'task.started': 'Not for runs that an inbound webhook started.',
  'task.created': 'With the new task.',
  'task.updated': 'With the values before and after.',
  'task.deleted': 'With the name of the task.',
  'task.changed': 'With the difference from the previous answer.',
  'task.overdue': 'A planned run has not finished in time.',
  'task.failing': 'Several runs in a row have failed.',
  'task.recovered': 'A run has completed after an alert.',
  'task.expensive': 'A run has cost more than its limit.',
  'task.slow': 'A run has taken longer than its limit.',
  'task.degraded': 'A fallback model has answered several runs in a row.',
  'scheduler.silent': 'The scheduler has stopped calling. Only for administrators.',
  'usage.alert': 'Runs, tokens or storage have reached the share of a usage alert.',
};

/** What webhooks and channels are notified of. */
export const events = {
  names,
  hints,
  runs: 'Runs',
  ownRuns: 'Runs, except inbound ones',
  tasks: 'Tasks',
  alerts: 'Changes and alerts',
  account: 'Your account',
};
