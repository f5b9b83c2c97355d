import type * as agent from '../agent.ts';
import type * as executions from '../executions.ts';
import type * as questions from '../questions.ts';
import type { ExamplesFor } from './example.ts';
import {
  CURSOR,
  ENDED,
  execution,
  executionQuotaExceeded,
  MODEL,
  NOW,
  PLANNED,
  PROMPT,
  PROPOSAL,
  quotaExceeded,
  STARTED,
  SYSTEM_MESSAGE,
  success,
  task,
} from './fixtures.ts';

const { id } = execution;
const request = { system: SYSTEM_MESSAGE, prompt: PROMPT, model: MODEL };
const NOT_FOUND = { 404: 'Execution not found' };
const providerFailed = {
  success: false,
  error: 'AI provider failed',
  message: 'The provider limits how often it may be asked',
  details: { errorCode: 'RATE_LIMIT_EXCEEDED' },
};
const retried = { success, executionId: 1209, status: 'pending', startedAt: NOW } as const;

export const executionsExamples: ExamplesFor<typeof executions> &
  ExamplesFor<typeof agent> &
  ExamplesFor<typeof questions> = {
  askExecution: {
    params: { id },
    body: { message: 'Why the hardest thing first?' },
    response: {
      200: {
        success,
        response: {
          content: 'Because the rest of the day is easier after it.',
          tokensUsed: { input: 148, output: 22, total: 170 },
          model: MODEL,
          processingTimeMs: 1120,
        },
        suggestions: ['What if I cannot begin?'],
      },
    },
    errors: {
      ...NOT_FOUND,
      402: executionQuotaExceeded,
      409: 'This execution has no result to ask about.',
      503: providerFailed,
    },
  },
  listQuestions: {
    params: { id },
    query: { limit: 20 },
    response: {
      200: {
        success,
        questions: [
          {
            id: 5,
            message: 'Why the hardest thing first?',
            content: 'Because the rest of the day is easier after it.',
            model: MODEL,
            createdAt: NOW,
          },
        ],
        pagination: { total: 1, limit: 20, offset: 0, hasMore: false, nextCursor: null },
      },
    },
    errors: NOT_FOUND,
  },
  listExecutions: {
    query: { taskId: task.id, status: 'completed', startDate: '2026-11-20', limit: 1 },
    response: {
      200: {
        success,
        executions: [execution],
        pagination: { total: 3, limit: 1, offset: 0, hasMore: true, nextCursor: CURSOR },
      },
    },
  },
  seeExecution: { params: { id }, response: { 200: { success, seen: 1 } }, errors: NOT_FOUND },
  seeExecutions: { body: { before: '2026-11-21T08:00:00.000Z' }, response: { 200: { success, seen: 12 } } },
  getExecution: {
    params: { id },
    response: {
      200: { success, execution: { ...execution, request } },
    },
    errors: NOT_FOUND,
  },
  getExecutionDetails: {
    params: { id },
    response: {
      200: {
        success,
        execution: {
          ...execution,
          request,
          task: { id: task.id, name: task.name, prompt: PROMPT, model: MODEL },
          logs: [
            { timestamp: PLANNED, message: 'Planned to run.' },
            { timestamp: execution.createdAt, message: 'Queued by the schedule.' },
            { timestamp: STARTED, message: 'Started, 0.412 s after its planned instant.' },
            { timestamp: STARTED, message: `Asking ${MODEL} with 0 attachments.` },
            { timestamp: ENDED, message: `${MODEL} took 31 prompt and 14 completion tokens.` },
            { timestamp: ENDED, message: 'Completed after 3459 ms.' },
          ],
          metadata: { model: MODEL, tokens: { prompt: 31, completion: 14, total: 45 }, cost: execution.costUsd },
        },
      },
    },
    errors: NOT_FOUND,
  },
  diffExecution: {
    params: { id },
    query: { against: 1187 },
    response: {
      200: {
        success,
        against: 1187,
        changes: [{ path: 'price', from: 12.5, to: 11.9 }],
        text: [
          { op: 'equal', text: '{"price": ' },
          { op: 'delete', text: '12.5}' },
          { op: 'insert', text: '11.9}' },
        ],
      },
    },
    errors: {
      404: 'There is no earlier success to compare with',
      409: 'The execution 1187 has no result to compare',
    },
  },
  retryExecution: {
    params: { id: 1208 },
    response: { 200: retried, 201: retried },
    errors: {
      ...NOT_FOUND,
      402: executionQuotaExceeded,
      409: 'This execution is running and cannot be retried, because only failed executions can.',
    },
  },
  cancelExecution: {
    params: { id },
    response: {
      200: {
        success,
        execution: {
          ...execution,
          status: 'failed',
          result: null,
          changed: null,
          changes: null,
          citations: [],
          toolUses: 0,
          truncated: false,
          modelAttempts: [],
          error: 'The run was cancelled.',
          errorCode: 'CANCELLED',
          tokensUsed: 30,
          tokens: { input: 30, output: 0, total: 30, estimated: true },
          costUsd: 0,
        },
      },
    },
    errors: {
      ...NOT_FOUND,
      409: 'This execution is completed and cannot be cancelled, because only pending and running executions can.',
    },
  },
  processMessage: {
    query: { propose: true },
    body: {
      message: 'What should I look at first on a Monday? Ask me every Monday at nine.',
      context: { timezone: 'Europe/Lisbon', preferences: { tone: 'brief' } },
    },
    response: {
      200: {
        success,
        response: {
          content: 'The one thing that others wait for.',
          tokensUsed: { input: 212, output: 48, total: 260 },
          model: MODEL,
          processingTimeMs: 1874,
        },
        suggestions: ['Plan my Monday', 'Ask me at ten instead'],
        proposal: {
          id: PROPOSAL,
          task: {
            name: 'Monday question',
            prompt: 'Ask me in one sentence what I should look at first today.',
            scheduledFor: '2026-11-23T09:00:00.000Z',
            recurrence: 'weekly',
            recurrencePattern: '0 9 * * 1',
            timezone: 'Europe/Lisbon',
          },
          occurrences: [
            { at: '2026-11-23T09:00:00.000Z', local: '2026-11-23T09:00:00+00:00[Europe/Lisbon]' },
            { at: '2026-11-30T09:00:00.000Z', local: '2026-11-30T09:00:00+00:00[Europe/Lisbon]' },
          ],
          expiresAt: '2026-11-21T09:15:27.204Z',
        },
      },
    },
    errors: {
      402: executionQuotaExceeded,
      503: providerFailed,
    },
  },
  confirmTask: {
    body: { proposalId: PROPOSAL, changes: { name: 'What to look at first' } },
    response: { 201: { success, taskId: task.id } },
    errors: {
      402: quotaExceeded('activeTasks', 10, 10),
      404: 'Proposal not found. It may have expired.',
      409: {
        success: false,
        error: 'This proposal was confirmed before.',
        details: { taskId: task.id },
      },
    },
  },
};
