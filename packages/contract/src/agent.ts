import { type Static, Type } from '@sinclair/typebox';
import { success } from './envelopes.ts';
import { describedErrors, errorResponses, type Operation, SIGNED_IN } from './operation.ts';
import { strictObject, TimeZone } from './primitives.ts';

/** Specification "Tasks, executions, agent mode"; decisions §7. */

/** Of `preferences` as JSON. */
export const PREFERENCES_BYTES = 8192;

export const ProcessMessageInput = strictObject({
  message: Type.String({ minLength: 1, maxLength: 32_000, pattern: '\\S' }),
  context: Type.Optional(
    strictObject({
      timezone: Type.Optional({
        ...TimeZone,
        description: "IANA time zone name; the user's own unless told, else UTC",
      }),
      preferences: Type.Optional(
        Type.Unsafe<Record<string, unknown>>({
          type: 'object',
          description: `What the answer is to be like, in any words; at most ${PREFERENCES_BYTES} bytes of JSON`,
        }),
      ),
    }),
  ),
});
export type ProcessMessageInput = Static<typeof ProcessMessageInput>;

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
    description: 'What the user may want to send next; empty where the model gave no usable ones',
  }),
});
export type ProcessMessageResult = Static<typeof ProcessMessageResult>;

const Events = Type.String({
  description:
    'Server-sent events. `content` with data `{"text"}`, again and again: the pieces of the content as they come. Then one `done`, whose data is the JSON answer, or one `error`, whose data is what any refusal looks like. A comment every 15 seconds keeps the connection alive.',
});

export const processMessage = {
  operationId: 'processMessage',
  summary: 'Answer a message at once, with follow-up suggestions',
  description:
    'Counts as one execution, and its tokens like those of one. It is answered by the `defaultModel` of the system settings with at most 1024 tokens. With `Accept: text/event-stream` the content is streamed; a refusal before its first piece is an ordinary answer.',
  tags: ['agent'],
  security: SIGNED_IN,
  body: ProcessMessageInput,
  response: {
    200: Type.Unsafe<ProcessMessageResult>({
      content: {
        'application/json': { schema: ProcessMessageResult },
        'text/event-stream': { schema: Events },
      },
    }),
    ...errorResponses(401, 403, 429),
    ...describedErrors({
      402: 'A quota is used up, the trial has ended, or calls under way have reserved the tokens that are left: `resetAt` is null then',
      503: 'The AI provider failed (`details.errorCode` says how, and `Retry-After` is there where it sent one), or maintenance or overload',
    }),
  },
} satisfies Operation;
