import { type Static, Type } from '@sinclair/typebox';
import { success } from './envelopes.ts';
import { describedErrors, errorResponses, type Operation, SIGNED_IN } from './operation.ts';
import { Id, Instant, nullable, pageLimit, ref } from './primitives.ts';
import { EVENT_KINDS, type EventData, EventKind } from './webhooks/events.ts';

export const LoggedEvent = Type.Object(
  {
    id: Type.String({ description: "The number in the user's log, which increases by one" }),
    event: EventKind,
    timestamp: Instant,
    data: Type.Unsafe<EventData>({
      type: 'object',
      additionalProperties: true,
      description: 'The details by kind, as in the deliveries of webhooks',
    }),
  },
  { $id: 'Event' },
);
export type LoggedEvent = Static<typeof LoggedEvent>;

const EventId = (description: string) => Type.String({ pattern: '^[0-9]{1,15}$', description });

export const ListEventsQuery = Type.Object({
  after: Type.Optional(EventId('The id of the event after which the list or the stream begins')),
  kinds: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 1000,
      description: `Only these kinds, separated by commas: ${EVENT_KINDS.map((kind) => `\`${kind}\``).join(', ')}`,
    }),
  ),
  taskId: Type.Optional({ ...Id, description: 'Only events of this task' }),
  limit: pageLimit(50),
});
export type ListEventsQuery = Static<typeof ListEventsQuery>;

export const ListEventsHeaders = Type.Object({
  'last-event-id': Type.Optional(
    Type.String({
      description:
        'For a stream: the id of the last event that was received. Takes precedence over `after`; anything but the id of an event begins now',
    }),
  ),
});

export const ListEventsResult = Type.Object({
  success,
  events: Type.Array(ref(LoggedEvent)),
  pagination: Type.Object({
    limit: Type.Integer(),
    hasMore: Type.Boolean({
      description:
        'Whether there are more after `nextAfter`. With `kinds` or `taskId`, a page of a long log may have fewer events than `limit`, or none',
    }),
    nextAfter: nullable(
      Type.String({ description: 'The `after` of the next page, also for events that do not exist yet' }),
    ),
  }),
});
export type ListEventsResult = Static<typeof ListEventsResult>;

const Stream = Type.String({
  description:
    'Server-sent events: each has the `id` and the kind of an event, and the event as JSON in `data`. A comment every 15 seconds keeps the connection alive. `reset` comes first if the given id is no longer stored: what follows begins with the oldest stored event.',
});

export const listEvents = {
  operationId: 'listEvents',
  summary: 'List or stream events',
  description:
    'Returns the events of the caller, oldest first, whether or not a webhook subscribes to them. They are stored for 30 days by default. With `Accept: text/event-stream` the response is a stream that continues with new events as they happen: from the one after `Last-Event-ID` or `after`, or else from now. A stream ends when the session ends and when the process stops; connect again with the last id. A user may have 5 streams open (429), a process 1,000 (503).',
  tags: ['events'],
  security: SIGNED_IN,
  querystring: ListEventsQuery,
  headers: ListEventsHeaders,
  response: {
    200: Type.Unsafe<ListEventsResult>({
      content: {
        'application/json': { schema: ListEventsResult },
        'text/event-stream': { schema: Stream },
      },
    }),
    ...errorResponses(401),
    ...describedErrors({ 429: 'Rate limit exceeded, or 5 streams of the user are open' }),
  },
} satisfies Operation;
