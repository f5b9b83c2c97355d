import { type Static, Type } from '@sinclair/typebox';
import { success } from './envelopes.ts';
import { describedErrors, errorResponses, IDEMPOTENCY_ERRORS, type Operation, SIGNED_IN } from './operation.ts';
import { strictObject, TimeZone } from './primitives.ts';

/** The maximum size of `preferences` as JSON. */
export const MAX_PREFERENCES_BYTES = 8192;

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
});
export type ProcessMessageResult = Static<typeof ProcessMessageResult>;

const Events = Type.String({
  description:
    'Server-sent events: several `content` events with data `{"text"}`, one for each piece of the content, then one `done` with the JSON response as data, or one `error` with an error body as data. A comment every 15 seconds keeps the connection alive.',
});

export const processMessage = {
  operationId: 'processMessage',
  summary: 'Answer a message',
  description:
    'Sends the message to the `defaultModel` of the system settings, with at most 1024 tokens, and returns the answer with follow-up suggestions. Counts as one execution and consumes the token quota. With `Accept: text/event-stream` the content is streamed; an error before the first piece is an ordinary JSON response.',
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
    ...IDEMPOTENCY_ERRORS,
    ...errorResponses(401, 403, 429),
    ...describedErrors({
      402: 'A quota is used up, the trial has ended, or concurrent calls have reserved the remaining tokens: then `resetAt` is null',
      503: 'The AI provider failed (`details.errorCode` is the reason; `Retry-After` is present if the provider sent one), or the service is under maintenance or overloaded',
    }),
  },
} satisfies Operation;
