import { formats } from './formats.ts';

const { count, number } = formats;

/** The administration: overview, confirmation, maintenance and system settings. */
export const admin = {
  title: 'Administration',
  sections: {
    overview: 'Overview',
    users: 'Users',
    coupons: 'Coupons',
    providers: 'AI providers',
    settings: 'Settings',
    audit: 'Audit log',
  },

  healthy: 'Everything works.',
  unhealthy: 'Something needs attention.',
  status: 'Status',
  database: 'Database',
  databaseStates: { ok: 'Connected', read_only: 'Read-only', failed: 'Not responding' },
  schema: 'Schema',
  schemaStates: { ok: 'Up to date', behind: 'Out of date', unknown: 'Unknown' },
  worker: 'Worker',
  workerStates: { ok: 'Running', starting: 'Starting', stuck: 'Not responding', stopping: 'Stopping' },
  on: 'On',
  off: 'Off',
  databaseFailed: 'The database is not available.',
  schemaBehind: 'The database schema is older than this version. Restart the service to migrate it.',
  workerStarting: 'The worker is starting. Runs start when it is ready.',
  workerStuck: 'The worker does not respond, and no run starts. Restart this process.',
  workerStopping: 'This process is stopping. Another one starts the next runs.',
  runOverdue: (time: string) => `A run has been due for ${time} and has not started. Check that the scheduler runs.`,
  schedulerSilent:
    'The scheduler has not called for two minutes. Check that it runs. Until then, runs start up to a minute late.',
  manyFailed: (failed: number, ended: number) =>
    `${number(failed)} of ${count(ended, 'run', 'runs')} failed in the last 24 hours.`,

  figures: 'Figures',
  runsLastDay: 'Runs, last 24 h',
  failedAndLive: (failed: number, live: number) => `${number(failed)} failed, ${number(live)} not finished`,
  completedLastDay: 'Completed, last 24 h',
  ofFinished: (runs: number) => `of ${count(runs, 'finished run', 'finished runs')}`,
  activeTasks: 'Active tasks',
  ofTasks: (tasks: number) => `of ${count(tasks, 'task', 'tasks')}`,
  activeUsers: 'Active users',
  ofUsers: (users: number, recent: number) => `of ${count(users, 'user', 'users')}, ${number(recent)} new in 30 days`,

  runCounts: (completed: number, failed: number, live: number) =>
    `${number(completed)} completed, ${number(failed)} failed${live > 0 ? `, ${number(live)} not finished` : ''}`,
  labelled: (label: string, text: string) => `${label}: ${text}`,
  hour: (from: string, to: string, counts: string) => `${from} to ${to}: ${counts}`,
  lastDay: 'Runs in the last 24 hours',
  byHour: 'by hour',
  upToPerHour: (runs: number) => `up to ${number(runs)} per hour`,
  now: 'now',
  failedBelow: (counts: string) => `${counts}. Failed runs are below the line.`,
  lastMonth: 'Runs in the last 30 days',
  byDay: 'by day (UTC)',
  upToPerDay: (runs: number) => `up to ${number(runs)} per day`,
  today: 'today',
  allTime: (counts: string, runs: number, rate: string) =>
    `${counts}. All time: ${count(runs, 'stored run', 'stored runs')}, ${rate} of the finished ones completed.`,

  queues: 'Queues',
  runs: 'Runs',
  queuedRuns: (queued: number, running: number) => `${number(queued)} queued, ${number(running)} running`,
  deliveries: 'Deliveries',
  mails: 'Mails',
  queued: (items: number) => `${number(items)} queued`,
  oldestRun: 'Oldest due run',
  noneLate: 'None is late',
  dueFor: (time: string) => `Due for ${time}`,
  topUsers: 'Most runs',
  topUsersPeriod: 'all time',
  noTopUsers: 'No runs yet. The most active users are listed here.',
  topUsersCaption: 'Users with the most runs',
  user: 'User',

  confirm: "Confirm that it's you",
  confirmText: 'Admin changes need a sign-in or your password from the last 15 minutes.',
  confirmButton: 'Confirm',
  confirmed: 'Confirmed. You can make changes for 15 minutes.',
  noPassword:
    'You sign in with a provider and have no password. Sign out and sign in again to make changes for 15 minutes.',
  notSaved: 'Nothing is saved yet. Check the fields, then save.',

  maintenance: 'Maintenance',
  maintenanceHint: 'Closes the service to everyone except administrators.',
  onlyAdmins: 'Only administrators can use the service.',
  everyone: 'Everyone can use the service.',
  changeMaintenance: 'Start or end maintenance…',
  startMaintenance: 'Start maintenance',
  startMaintenanceText:
    'Everyone except administrators immediately gets “under maintenance” from all pages and the API.',
  startMaintenanceHint: 'Planned runs continue. Administrators can still sign in and end maintenance.',
  endMaintenance: 'End maintenance',
  endMaintenanceText:
    'The service is closed to everyone except administrators. Ending maintenance opens it immediately.',
  maintenanceOn: 'Maintenance is on. Only administrators can use the service.',
  maintenanceStarted: 'Maintenance is on.',
  maintenanceEnded: 'Maintenance is off.',

  settingsTitle: 'System settings',
  settingsText: 'For the whole service. Changes take effect immediately.',
  trialDays: 'Trial for new accounts (days)',
  trialDaysHint: 'Existing accounts keep their trial. 0 for no trial.',
  maxTasks: 'Max. active tasks per user',
  maxRuns: 'Max. runs per user and day (UTC)',
  planHint: 'A plan can allow fewer.',
  defaultModel: 'Default model',
  settingsSaved: 'The system settings are saved.',

  localTime: (timeZone: string) => `Time in ${timeZone}.`,
  notATime: 'is not a date and time',
};
