import { type Static, Type } from '@sinclair/typebox';
import { success } from './envelopes.ts';
import { PlannedOccurrence } from './occurrences.ts';
import {
  describedErrors,
  errorResponses,
  IDEMPOTENCY_ERRORS,
  type Operation,
  orInProgress,
  SIGNED_IN,
} from './operation.ts';
import { Id, Instant, ref, strictObject, TimeZone, Uuid } from './primitives.ts';
import { ACTIVE_TASK_QUOTA, ChangeTaskInput, CreateTaskInput } from './tasks.ts';

/** The maximum size of `preferences` as JSON. */
export const MAX_PREFERENCES_BYTES = 8192;

export const ProcessMessageQuery = Type.Object({
  propose: Type.Optional(Type.Boolean({ description: 'Whether the response may have a `proposal`. Default: false' })),
});

export const ProcessMessageInput = strictObject({
  message: Type.String({ minLength: 1, maxLength: 32_000, pattern: '\\S' }),
  context: Type.Optional(
    strictObject({
      timezone: Type.Optional({
        ...TimeZone,
        description: "IANA time zone name. Default: the user's own, else UTC",
      }),
      preferences: Type.Optional(
        Type.Unsafe<Record<string, unknown>>({
          type: 'object',
          description: `Free-form preferences for the answer; at most ${MAX_PREFERENCES_BYTES} bytes of JSON`,
        }),
      ),
    }),
  ),
});
export type ProcessMessageInput = Static<typeof ProcessMessageInput>;

/** How long a proposed task can be confirmed. */
export const PROPOSAL_HOURS = 24;
export const MAX_PROPOSED_OCCURRENCES = 5;

export const TaskProposal = Type.Object(
  {
    id: { ...Uuid, description: 'For `confirmTask`' },
    task: { ...CreateTaskInput, description: 'The body of `createTask` that would create it' },
    occurrences: Type.Array(PlannedOccurrence, {
      maxItems: MAX_PROPOSED_OCCURRENCES,
      description: `The next runs that the task would have, at most ${MAX_PROPOSED_OCCURRENCES}`,
    }),
    expiresAt: { ...Instant, description: `Until when it can be confirmed: for ${PROPOSAL_HOURS} hours` },
  },
  { $id: 'TaskProposal', description: 'A task that the agent proposes. It is not saved before it is confirmed' },
);
export type TaskProposal = Static<typeof TaskProposal>;

const Tokens = Type.Object({ input: Type.Integer(), output: Type.Integer(), total: Type.Integer() });

export const ProcessMessageResult = Type.Object({
  success,
  response: Type.Object({
    content: Type.String(),
    tokensUsed: Tokens,
    model: Type.String({ description: 'The model that answered' }),
    processingTimeMs: Type.Integer(),
  }),
  suggestions: Type.Array(Type.String({ maxLength: 200 }), {
    maxItems: 5,
    description: 'Messages that the user may want to send next; empty if the model returned no usable ones',
  }),
  proposal: Type.Optional(
    ref(
      TaskProposal,
      'A task that does what the message asks to be done later, repeatedly or when something changes; absent if it asks for none, and without `propose=true`. `confirmTask` saves it',
    ),
  ),
});
export type ProcessMessageResult = Static<typeof ProcessMessageResult>;

/** A streamed answer. */
export const EVENTS = Type.String({
  description:
    'Server-sent events: several `content` events with data `{"text"}`, one for each piece of the content, then one `done` with the JSON response as data, or one `error` with an error body and its `code` as data. A comment every 15 seconds keeps the connection alive.',
});

export const processMessage = {
  operationId: 'processMessage',
  summary: 'Answer a message',
  description:
    'Sends the message to the `defaultModel` of the system settings, with at most 2048 tokens, and returns the answer with follow-up suggestions. With `propose=true`, if the message asks for something to be done later, repeatedly or when something changes, the result may have a `proposal`: a task that `confirmTask` saves, and nothing else does. Counts as one execution and consumes the token quota. With `Accept: text/event-stream` the content is streamed; an error before the first piece is an ordinary JSON response.',
  tags: ['agent'],
  security: SIGNED_IN,
  querystring: ProcessMessageQuery,
  body: ProcessMessageInput,
  response: {
    200: Type.Unsafe<ProcessMessageResult>({
      content: {
        'application/json': { schema: ProcessMessageResult },
        'text/event-stream': { schema: EVENTS },
      },
    }),
    ...IDEMPOTENCY_ERRORS,
    ...errorResponses(401, 403, 429),
    ...describedErrors({
      402: 'A quota is used up, the trial has ended, or concurrent calls have reserved the remaining tokens: then `resetAt` is null',
      503: 'The AI provider failed (`details.errorCode` is the reason; `Retry-After` is present if the provider sent one), or the service is under maintenance or overloaded',
    }),
  },
} satisfies Operation;

export const ConfirmTaskInput = strictObject({
  proposalId: { ...Uuid, description: 'The `id` of a proposal of the caller' },
  changes: Type.Optional({
    ...ChangeTaskInput,
    description: 'Fields of the task that replace the proposed ones; null clears a nullable field',
  }),
});
export type ConfirmTaskInput = Static<typeof ConfirmTaskInput>;

export const confirmTask = {
  tags: ['agent'],
  security: SIGNED_IN,
  operationId: 'confirmTask',
  summary: 'Save a proposed task',
  description: `Creates the task of a \`proposal\`, with \`changes\` if there are any, as \`createTask\` would, and at most once. An error leaves the proposal as it is: it can be confirmed again, for ${PROPOSAL_HOURS} hours after it was made. If its first run has passed by then, the error names \`scheduledFor\`: send a new one in \`changes\`. Sends \`task.created\`.`,
  body: ConfirmTaskInput,
  response: {
    201: Type.Object({ success, taskId: Id }),
    ...IDEMPOTENCY_ERRORS,
    ...errorResponses(401, 403, 429),
    ...describedErrors({
      402: ACTIVE_TASK_QUOTA,
      404: 'The proposal does not exist, has expired, or belongs to another user',
      409: orInProgress('The proposal was confirmed before: `details.taskId` is its task, null if that is deleted'),
    }),
  },
} satisfies Operation;
