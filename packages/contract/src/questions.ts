import { type Static, Type } from '@sinclair/typebox';
import { EVENTS, ProcessMessageInput, ProcessMessageResult } from './agent.ts';
import { Pagination, success } from './envelopes.ts';
import {
  describedErrors,
  errorResponses,
  IDEMPOTENCY_ERRORS,
  type Operation,
  orInProgress,
  SIGNED_IN,
} from './operation.ts';
import { Cursor, Id, IdParams, Instant, Offset, pageLimit, strictObject } from './primitives.ts';

const common = { tags: ['executions'], security: SIGNED_IN };

export const AskInput = strictObject({ message: ProcessMessageInput.properties.message });
export type AskInput = Static<typeof AskInput>;

const { proposal: _proposal, ...answer } = ProcessMessageResult.properties;
export const AskResult = Type.Object(answer);
export type AskResult = Static<typeof AskResult>;

export const askExecution = {
  ...common,
  operationId: 'askExecution',
  summary: 'Ask about an answer',
  description:
    'Sends the message to the `defaultModel` of the system settings, with the prompt of the execution, its result, its sources and what was asked about it before, and returns the answer in the form of `processMessage`. The question and its answer are stored with the execution. Counts as one execution and consumes the token quota. With `Accept: text/event-stream` the content is streamed; an error before the first piece is an ordinary JSON response. An API key needs `executions:read` too.',
  params: IdParams,
  body: AskInput,
  response: {
    200: Type.Unsafe<AskResult>({
      content: { 'application/json': { schema: AskResult }, 'text/event-stream': { schema: EVENTS } },
    }),
    ...IDEMPOTENCY_ERRORS,
    ...errorResponses(401, 403, 404, 429),
    ...describedErrors({
      402: 'A quota is used up, the trial has ended, or concurrent calls have reserved the remaining tokens: then `resetAt` is null',
      409: orInProgress('The execution has no result: it has not ended, or it failed'),
      503: 'The AI provider failed (`details.errorCode` is the reason; `Retry-After` is present if the provider sent one), or the service is under maintenance or overloaded',
    }),
  },
} satisfies Operation;

const Question = Type.Object({
  id: Id,
  message: Type.String({ description: 'What was asked' }),
  content: Type.String({ description: 'The answer' }),
  model: Type.String({ description: 'The model that answered' }),
  createdAt: Instant,
});

export const ListQuestionsQuery = Type.Object({
  limit: pageLimit(20),
  offset: Offset,
  cursor: Type.Optional(Cursor),
});
export type ListQuestionsQuery = Static<typeof ListQuestionsQuery>;

export const listQuestions = {
  ...common,
  operationId: 'listQuestions',
  summary: 'List the questions about an answer',
  description:
    'Returns what was asked about the result of the execution, newest first. Deleted with the execution. Pages by `offset`, or by `cursor`.',
  params: IdParams,
  querystring: ListQuestionsQuery,
  response: {
    200: Type.Object({ success, questions: Type.Array(Question), pagination: Pagination }),
    ...errorResponses(401, 404, 429),
  },
} satisfies Operation;
