import type * as occurrences from '../occurrences.ts';
import type * as files from '../tasks/files.ts';
import type * as prompts from '../tasks/preview-prompt.ts';
import type * as sources from '../tasks/sources.ts';
import type * as templates from '../tasks/templates.ts';
import * as versions from '../tasks/versions.ts';
import type * as tasks from '../tasks.ts';
import type { Task } from '../tasks.ts';
import type { ExamplesFor } from './example.ts';
import {
  execution,
  executionQuotaExceeded,
  NOW,
  PLANNED,
  quotaExceeded,
  STARTED,
  SYSTEM_MESSAGE,
  success,
  task,
} from './fixtures.ts';

const { id, name, prompt, recurrence, timezone } = task;
const NOT_FOUND = { 404: 'Task not found' };
const TAKEN = { 409: 'Another of your tasks has this externalId.' };
const TOO_MANY = { 402: quotaExceeded('activeTasks', 10, 10) };

const NO_VERSION = { 404: 'The task has no version of this number' };
const settings = Object.fromEntries(versions.RESTORED_FIELDS.map((field) => [field, task[field]])) as Pick<
  Task,
  (typeof versions.RESTORED_FIELDS)[number]
>;
const version = { number: 2, at: NOW, by: task.userId, via: 'page' as const, fields: ['prompt' as const] };
const template = {
  id: 'frost-and-storm',
  name: 'Frost and storm',
  purpose: 'Warns you the day before the plants or the roof need care.',
  category: 'everyday' as const,
  needs: ['sources' as const],
  blanks: [{ key: 'latitude', label: 'Latitude of your place', example: '51.51' }],
  task: {
    name: 'Frost and storm',
    prompt: 'Read the forecast below for the next 36 hours. Will there be frost or a storm?',
    recurrence: 'daily' as const,
    recurrencePattern: '0 16 * * *',
    timezone,
    sources: [{ name: 'forecast', url: 'https://weather.example.com/forecast?latitude=[latitude]' }],
  },
};

type Examples = ExamplesFor<typeof tasks> &
  ExamplesFor<typeof occurrences> &
  ExamplesFor<typeof prompts> &
  ExamplesFor<typeof templates> &
  ExamplesFor<typeof versions> &
  ExamplesFor<typeof sources> &
  ExamplesFor<typeof files>;

const FILE = `- externalId: ${task.externalId}
  name: ${name}
  prompt: ${prompt}
  scheduledFor: ${PLANNED}
  recurrence: ${recurrence}
  timezone: ${timezone}
  aiModel: ${task.aiModel}
  status: active
`;

export const tasksExamples: Examples = {
  exportTasks: { response: { 200: FILE } },
  importTasks: {
    query: { dryRun: true },
    body: FILE,
    response: {
      200: {
        success,
        created: 1,
        updated: 0,
        unchanged: 0,
        deleted: 0,
        errors: [],
        preview: [{ name, nextRuns: [PLANNED, '2026-11-21T07:30:00.000Z', '2026-11-22T07:30:00.000Z'] }],
      },
    },
    errors: {
      ...TOO_MANY,
      400: {
        success: false,
        error: 'Validation error',
        errors: [{ line: 4, field: 'scheduledFor', message: 'must be an ISO 8601 date-time with Z or an offset' }],
      },
    },
  },
  getTaskSchema: {
    response: { 200: { $schema: 'https://json-schema.org/draft/2020-12/schema', title: 'Tasks of Carillon' } },
  },
  createTask: {
    body: { name, description: 'For the head of my notes.', prompt, scheduledFor: PLANNED, recurrence, timezone },
    response: { 201: { success, taskId: id } },
    errors: { ...TAKEN, ...TOO_MANY },
  },
  listTasks: {
    query: { status: 'active', limit: 20 },
    response: {
      200: {
        success,
        tasks: [task],
        pagination: { total: 1, limit: 20, offset: 0, hasMore: false, nextCursor: null },
      },
    },
  },
  getTask: { params: { id }, response: { 200: { success, task } }, errors: NOT_FOUND },
  changeTask: {
    params: { id },
    body: { status: 'paused' },
    response: {
      200: { success, task: { ...task, status: 'paused', nextExecutionAt: null, updatedAt: NOW } },
    },
    errors: { ...NOT_FOUND, ...TAKEN, ...TOO_MANY },
  },
  listTemplates: { response: { 200: { success, templates: [template] } } },
  getTaskTemplate: {
    params: { id },
    response: {
      200: {
        success,
        template: {
          id: `task-${id}`,
          name,
          purpose: 'For the head of my notes.',
          category: 'own',
          needs: [],
          blanks: [],
          task: { name, prompt, recurrence, recurrencePattern: '30 7 * * *', timezone },
        },
      },
    },
    errors: NOT_FOUND,
  },
  deleteTask: {
    params: { id },
    response: { 200: { success, message: 'The task is deleted.' } },
    errors: NOT_FOUND,
  },
  executeTask: {
    params: { id },
    response: { 201: { success, executionId: 1208, status: 'pending', startedAt: NOW } },
    errors: { ...NOT_FOUND, 402: executionQuotaExceeded },
  },
  duplicateTask: {
    params: { id },
    body: { name: 'Evening sentence' },
    response: {
      201: {
        success,
        task: {
          ...task,
          id: 43,
          externalId: 'task-43',
          name: 'Evening sentence',
          executionCount: 0,
          lastExecutionAt: null,
          createdAt: NOW,
          updatedAt: NOW,
        },
      },
    },
    errors: { ...NOT_FOUND, ...TOO_MANY },
  },
  listOccurrences: {
    params: { id },
    query: { limit: 20 },
    response: {
      200: {
        success,
        occurrences: [
          {
            plannedFor: PLANNED,
            fate: 'ran',
            recordedAt: execution.createdAt,
            executionId: execution.id,
            startedAt: STARTED,
            latenessMs: 412,
          },
        ],
        pagination: { limit: 20, nextCursor: null },
      },
    },
    errors: NOT_FOUND,
  },
  skipNextRun: {
    params: { id },
    response: {
      200: {
        success,
        occurrence: {
          plannedFor: PLANNED,
          fate: 'skipped_by_user',
          recordedAt: NOW,
          executionId: null,
          startedAt: null,
          latenessMs: null,
        },
        task: { ...task, updatedAt: NOW },
      },
    },
    errors: { ...NOT_FOUND, 409: 'The task has no next run to skip.' },
  },
  backfillTask: {
    params: { id },
    body: { from: '2026-11-17T00:00:00Z', to: '2026-11-20T00:00:00Z' },
    response: { 201: { success, queued: 3 } },
    errors: { ...NOT_FOUND, 402: executionQuotaExceeded },
  },
  listVersions: {
    params: { id },
    query: { limit: 20 },
    response: {
      200: {
        success,
        versions: [version, { ...version, number: 1, at: task.createdAt, fields: [] }],
        pagination: { total: 2, limit: 20, offset: 0, hasMore: false, nextCursor: null },
      },
    },
    errors: NOT_FOUND,
  },
  getVersion: {
    params: { id, number: 2 },
    response: { 200: { success, version: { ...version, task: settings } } },
    errors: NO_VERSION,
  },
  restoreVersion: {
    params: { id, number: 1 },
    response: { 200: { success, task: { ...task, updatedAt: NOW } } },
    errors: NO_VERSION,
  },
  previewTask: {
    body: { scheduledFor: '2027-03-27T01:30:00Z', recurrence, timezone, count: 2 },
    response: {
      200: {
        success,
        occurrences: [
          { at: '2027-03-27T01:30:00.000Z', local: '2027-03-27T01:30:00+00:00[Europe/Lisbon]' },
          {
            at: '2027-03-28T01:30:00.000Z',
            local: '2027-03-28T02:30:00+01:00[Europe/Lisbon]',
            note: 'The clocks go forward past 01:30 on 2027-03-28, so this runs at 02:30.',
          },
        ],
      },
    },
  },
  previewPrompt: {
    body: { prompt: 'What happened overnight, as of {{date}}?', taskId: id },
    response: {
      200: { success, system: SYSTEM_MESSAGE, prompt: 'What happened overnight, as of 2026-11-20?' },
    },
    errors: NOT_FOUND,
  },
  previewSources: {
    body: { sources: [{ name: 'price', url: 'https://shop.example.com/bell', select: '#price' }] },
    response: {
      200: {
        success,
        sources: [
          {
            name: 'price',
            ok: true,
            contentType: 'text/html',
            title: 'Bell',
            text: '19 €',
            bytes: 48211,
            message: null,
          },
        ],
      },
    },
  },
};
