import { Id } from '@carillon/contract/primitives';
import { CreateTaskInput, Task } from '@carillon/contract/tasks';
import { Type } from '@sinclair/typebox';
import { createETag, readIfMatch } from '../../../platform/http/etag.ts';
import type { ExpectedRevisions } from '../../../platform/queries/revision.ts';
import type { TaskRow } from '../../../product/tasks/read.ts';
import { withoutDescriptions } from '../client-schema.ts';
import { GivenTime, GivenTimeZone } from './given-times.ts';

// An assistant cannot upload a file, and the texts of files are too long to be arguments.
const { attachments: _files, recurrencePattern, ...settings } = CreateTaskInput.properties;

const TimeOrNull = Type.Optional(Type.Unsafe<string | null>({ ...GivenTime, type: ['string', 'null'] }));

/** When a task runs, with local times. */
export const scheduleFields = {
  scheduledFor: { ...GivenTime, description: `The first run. ${GivenTime.description}` },
  recurrence: {
    ...settings.recurrence,
    description: 'Repeats the first run at the same local time',
  },
  recurrencePattern: Type.Optional({
    ...recurrencePattern,
    description:
      'Cron of five fields in `timezone`, for other schedules; day of month and weekday mean either. `scheduledFor` runs too',
  }),
  interval: { ...settings.interval, description: 'Every n days, weeks or months' },
  timezone: GivenTimeZone,
  endsAt: { ...TimeOrNull, description: 'No run at this time or later' },
  maxRuns: { ...settings.maxRuns, description: 'Maximum number of planned runs' },
  pausedUntil: { ...TimeOrNull, description: 'No run before this time' },
};

/** Fields of these names hold times. */
export const TIME_FIELDS = ['scheduledFor', 'endsAt', 'pausedUntil'] as const;

/** Shorter than those of the contract: every conversation with an assistant pays for them. */
const DESCRIPTIONS: { readonly [K in keyof typeof settings]?: string } = {
  description: 'For the user',
  prompt: 'The prompt of each run. The model knows nothing of this conversation',
  aiModel: 'Omit unless the user names one',
  temperature: 'In hundredths. Default: 70',
  webhookUrl: 'Gets the results as JSON',
  notificationEmail: 'Gets the results by mail',
  channels: 'Ids from list_channels, which get the results and alerts',
  context: 'What the model is given in addition to the prompt',
  outputSchema: 'JSON Schema 2020-12 of an object that every result must match',
  inputs: 'Tasks whose last answer the prompt reads as `{{task.<name>}}`',
  tools: 'Web tools of the model. Default: none',
  maxToolUses: 'In a run. Default: 5',
  sources:
    'Read before each run, so that the model has fresh facts: the page, feed or JSON at `url` (`select`: a CSS selector, or a JSON Pointer), or the first hits of `search`. `name`: a-z, 0-9, _; `{{source.<name>}}` in the prompt is its text',
  runIf: '`changed`: no run while all sources are as at the last completed run. Default: `always`',
  fallbackModels: 'Asked in this order when `aiModel` fails',
  requireTools: 'Whether a run that leaves a tool unused is not done',
  notify: 'When results are sent; failures always are. `change`: only if the result has changed. Default: `always`',
  watch: 'Paths into the output to compare, such as `price` or `releases[].date`. Default: all of it',
  missed: 'Which runs are made up for after a downtime. Default: `latest`',
  overlap: 'What a run does while another one of the task runs. Default: `skip`',
  timeoutMs: 'How long the model may take',
  monthlyBudgetUsd: 'What the runs of a UTC month may cost',
  maxRetries: 'Default: 3',
  alerts: 'Default: 15 minutes overdue, and 3 failures in a row',
};

const shorten = <F extends typeof settings>(fields: F): F =>
  Object.fromEntries(
    Object.entries(fields).map(([name, schema]) => {
      const description = DESCRIPTIONS[name as keyof typeof settings];
      // The names of their fields say what they are.
      const short = ['alerts', 'inputs', 'sources'].includes(name) ? withoutDescriptions(schema) : schema;
      return [name, description === undefined ? schema : { ...short, description }];
    }),
  ) as F;

/** What a tool can set of a task: the fields of the contract. */
export const taskFields = { ...shorten(settings), ...scheduleFields };

/** The same for a change, described where a task is created. */
export const changedFields = withoutDescriptions(Type.Partial(Type.Object(taskFields))).properties;

export const TaskId = Type.Integer({ ...Id, description: 'From list_tasks' });
export const RunId = Type.Integer({ ...Id, description: 'From list_runs or run_task' });

export const Etag = Type.Optional(
  Type.String({
    maxLength: 100,
    pattern: '^"?[\\w-]+"?$',
    description: 'From get_task: refuses the change if the task has changed since',
  }),
);

const buildETag = createETag(Task);

/** An ETag of the API without its quotes, which models lose. */
export const toEtag = (task: TaskRow): string => buildETag(task, task).slice(1, -1);

/** The revision that a change may start from. */
export const readEtag = (etag: string | undefined, taskId: number): ExpectedRevisions =>
  etag === undefined ? null : readIfMatch({ headers: { 'if-match': `"${etag.replaceAll('"', '')}"` } }, taskId);
