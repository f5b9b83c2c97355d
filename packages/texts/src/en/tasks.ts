import { parts } from '../parts.ts';
import { formats } from './formats.ts';

const { count, number } = formats;

/** After a change of one task. */
const past = { started: 'started', paused: 'paused', resumed: 'resumed', deleted: 'deleted' };

export const tasks = {
  title: 'Tasks',
  newTask: 'New task',
  empty: 'No tasks yet. A task runs your prompt on a schedule.',
  createFirst: 'Create your first task',

  search: 'Search by name',
  status: 'Status',
  statuses: {
    all: 'All',
    attention: 'Needs attention',
    active: 'Active',
    paused: 'Paused',
    failed: 'Failed',
    completed: 'Done',
  },
  sortBy: 'Sort by',
  sorts: { next: 'Next run', name: 'Name', newest: 'Newest' },
  searchContinues: 'Only some of your tasks are searched. The search continues on the next page.',
  total: (tasks: number) => count(tasks, 'task', 'tasks'),
  selectedTasks: 'Selected tasks',
  selectHint: <P>(selectAll: P) => parts<P>`Select tasks to run, pause or delete them, or ${selectAll}.`,
  selectAll: 'select all on this page',
  selected: 'Selected:',
  run: 'Run now',
  pause: 'Pause',
  resume: 'Resume',
  orders: { next: 'Tasks by next run', name: 'Tasks by name', newest: 'Tasks, newest first' },
  select: 'Select',
  selectTask: (name: string) => `Select ${name}`,
  task: 'Task',
  lastPlanned: <P>(key: P) => parts<P>`Last 30 planned runs, ${key}`,
  key: 'key',
  last: 'Last',
  next: 'Next',
  days30: '30 days',
  days30Short: '30 d',
  over: (cost: string) => `over ${cost}`,
  notRun: 'Not run yet',
  paused: 'Paused',
  done: 'Done',
  stopped: 'Stopped',
  none: 'None',
  noMatch: 'No tasks match this search.',
  noMatchSoFar: 'No match so far.',
  noMore: 'No more tasks.',
  showAll: 'Show all tasks',

  noneSelected: 'No task is selected.',
  changedOne: (change: keyof typeof past) => `The task is ${past[change]}.`,
  refusedOne: (change: keyof typeof past, reason: string) => `Not ${past[change]}: ${reason}`,
  changed: (tasks: number, change: keyof typeof past) => `${count(tasks, 'task', 'tasks')} ${past[change]}.`,
  refused: (done: number, refused: number, change: keyof typeof past, reasons: string) =>
    done > 0
      ? `${count(done, 'task', 'tasks')} ${past[change]}, ${number(refused)} refused: ${reasons}`
      : `${count(refused, 'task', 'tasks')} not ${past[change]}: ${reasons}`,

  deleteTask: (name: string) => `Delete ${name}`,
  deleteTasks: (tasks: number) => `Delete ${count(tasks, 'task', 'tasks')}`,
  deleteText: (tasks: number): string =>
    tasks === 1 ? 'Deletes this task with all runs and answers:' : 'Deletes these tasks with all runs and answers:',
  runs: (runs: number) => count(runs, 'run', 'runs'),
  deleteRunning:
    'A running run is stopped: its answer is discarded, its tokens are still billed. This cannot be undone.',
  deleteOne: 'Delete task',

  runMissed: 'Run missed ones',
  runMissedText:
    'Runs each missed or skipped run of this period now, one after the other, up to 100. Completed runs are not repeated.',
  missedFrom: (zone: string) => `From, ${zone} time`,
  missedTo: (zone: string) => `To, ${zone} time`,
  dateMissing: 'Enter a date and a time',
  noneMissing: 'No run is missing in this period.',
  missedQueued: (runs: number) => `${count(runs, 'missed run is', 'missed runs are')} queued.`,

  pauseAll: 'Pause all…',
  pauseAllHint: 'No task runs until then.',
  pauseAllThen: 'Pause all tasks',
  arePaused: (tasks: number, moment: string) => `${count(tasks, 'task is', 'tasks are')} paused until ${moment}.`,

  pauseUntil: 'Pause until…',
  resumeNow: 'Resume now',
  untilLabel: (zone: string) => `Until, ${zone} time`,
  pauseUntilThen: 'Pause until then',
  notInFuture: 'Enter a time in the future',
  resumed: 'The task is resumed.',
  pausedUntil: (moment: string) => `The task is paused until ${moment}.`,
  pausedUntilIn: (moment: string, distance: string) => `Paused until ${moment}, ${distance}.`,
  skipped: (moment: string) => `The run of ${moment} is skipped.`,
  notSkipped: (reason: string) => `Nothing is skipped. ${reason}`,
  noSuchRun: 'The task has no such run.',

  nextRunAt: (moment: string, distance: string) => `Next run ${moment}, ${distance}.`,
  isPaused: 'Paused. It runs again when you resume it.',
  isDone: 'Done. It does not run again.',
  isCancelled: 'Stopped by you. It does not run again by itself.',
  isStopped: 'Stopped after failures. It runs again when you resume it.',
  noNextRun: 'No run is planned.',
  stopRun: 'Stop run',
  more: 'More',
  wholePrompt: 'Whole prompt',
  duplicate: 'Duplicate',
  lastFailed: 'The last run failed.',
  isRetried: 'Carillon retries it.',
  nextComes: 'The next run starts as planned.',
  seeWhy: 'See why',
  feed: 'Feed',

  plannedRuns: 'Planned runs',
  noPlannedRuns: 'Each planned run appears here as a mark.',
  lastPlannedRuns: (runs: number) => (runs === 1 ? 'Last planned run' : `Last ${number(runs)} planned runs`),
  lateBy: (duration: string) => `, by ${duration}`,
  saved: (runs: number, cost: string | null) =>
    `${count(runs, 'run', 'runs')} left out this month because no source had changed${cost === null ? '' : `: about ${cost} saved`}.`,

  nextRun: 'Next run',
  nextRuns: 'Next runs',
  exceptions: 'Exceptions',
  skipNext: 'Skip the next run',
  timeIn: (time: string, zone: string) => `${time} in ${zone}`,

  runsTitle: 'Runs',
  allRuns: (runs: number) => (runs === 1 ? 'See 1 run' : `All ${number(runs)} runs`),
  lastRuns: 'Last runs',
  runHead: 'Run',
  startedBy: {
    schedule: 'as planned',
    manual: 'started by you',
    inbound: 'by webhook',
    retry: 'retry',
    backfill: 'missed run',
  },

  lastAnswer: 'Last answer',
  wholeRun: 'See run',
  readWhole: 'Read the whole answer',
  noneAnswered: 'None of the latest runs has an answer. The runs below say why.',
  noAnswer: 'No answer yet. Run the task now to see one.',

  costAndTime: 'Cost and duration',
  costIn30Days: (cost: string) => `${cost} in 30 days`,
  measures: { cost: 'Cost', time: 'Duration' },
  measureOf: (measure: string, runs: number, range: string) =>
    `${measure} of the last ${count(runs, 'run', 'runs')}: ${range}.`,
  range: (from: string, to: string) => `${from} to ${to}`,
  scale: (measure: string, top: string) => `${measure}, up to ${top}`,

  settings: 'Settings',
  tokens: (tokens: number) => count(tokens, 'token', 'tokens'),
  webhook: 'Webhook',
  mailTo: 'Mail to',
  created: 'Created',
};
