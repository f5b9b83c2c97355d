import { buildExamplePayload } from '@carillon/contract/examples/events';
import { EVENT_KINDS, type EventKind, eventPayload } from '@carillon/contract/webhooks/events';

/** The headers of a delivery, including those of Standard Webhooks. */
const HEADERS: [name: string, example: string, description: string][] = [
  ['User-Agent', 'Carillon-Webhook/1.0', 'The sender'],
  ['X-Webhook-ID', '3f6c9b5e-8a1d-4c57-9a43-0d5f6a1b2c3d', 'The id of the webhook'],
  [
    'X-Webhook-Signature',
    'sha256=2f8a…',
    'HMAC-SHA256 of the raw body in lower-case hex, with the whole secret as key. Compare in constant time.',
  ],
  ['X-Request-ID', 'c7e0a5b4-41d9-4f7e-9a6d-2b8e1f3c5d70', 'The delivery, by id: the same for each attempt'],
  ['X-Event-Type', 'task.completed', 'The kind of event'],
  ['X-Delivery-Attempt', '1', 'The number of the attempt, from 1; a redelivery starts with 1 again'],
  ['X-Previous-Attempt', '2026-11-20T07:30:03.871Z', 'When the previous attempt started; only on retries'],
  [
    'webhook-id',
    'c7e0a5b4-41d9-4f7e-9a6d-2b8e1f3c5d70',
    'The id of the delivery: the same for each attempt, to detect duplicates',
  ],
  ['webhook-timestamp', '1795159803', 'Seconds since the epoch; reject deliveries older than 5 minutes'],
  [
    'webhook-signature',
    'v1,K5oZ…',
    'Standard Webhooks: HMAC-SHA256 of `id.timestamp.body`, with the base64-decoded part after `whsec_` as key. For 24 hours after a rotation there are two signatures, separated by a space.',
  ],
];

const DESCRIPTIONS: Record<EventKind, string> = {
  'task.created': 'Sent when a task is created or duplicated.',
  'task.updated': 'Sent when a task is changed; `changes` has the previous and the new value by field.',
  'task.deleted': 'Sent when a task is deleted.',
  'task.started': 'Sent when a run starts, before the model is called; same data as `execution.started`.',
  'task.completed': 'Sent when a run completes; same data as `execution.completed`.',
  'task.failed': 'Sent when a run fails, even if a retry follows; same data as `execution.failed`.',
  'execution.started': 'Sent when a run starts, before the model is called.',
  'execution.completed': 'Sent when a run completes.',
  'execution.failed': 'Sent when a run fails; `retryScheduled` is whether a retry follows, and `nextRetryAt` when.',
  'task.changed':
    'Sent beside `task.completed`, with the same data, when a watched value differs from that of the last success.',
  'task.overdue': 'Sent when no planned run has ended so many minutes after its planned instant.',
  'task.failing': 'Sent when so many runs in a row have failed.',
  'task.recovered':
    'Sent when a run completes after `task.overdue` or `task.failing`, or when the sources of the task can be read again.',
  'task.expensive': 'Sent when a run costs more than the limit of the task.',
  'task.slow': 'Sent when a run takes longer than the limit of the task.',
  'task.degraded': 'Sent when a fallback model has answered as often in a row as the task allows.',
  'scheduler.silent': 'Sent to admins when the scheduler has not called for two minutes.',
  'usage.alert': 'Sent when usage reaches the threshold of an alert, once a month for each resource.',
  test: 'Sent on request, without retries.',
};

const parameters = HEADERS.map(([name, example, description]) => ({
  name,
  in: 'header',
  required: name !== 'X-Previous-Attempt',
  description,
  schema: { type: 'string' as const },
  example,
}));

/** The `webhooks` of the OpenAPI document. */
export const describeEvents = () => Object.fromEntries(EVENT_KINDS.map((kind) => [kind, describeEvent(kind)]));

const describeEvent = (kind: EventKind) => ({
  post: {
    operationId: `on.${kind}`,
    summary: kind === 'test' ? 'Receive a test delivery' : `Receive ${kind}`,
    description: `${DESCRIPTIONS[kind]} Verify the signature before reading the body.`,
    security: [],
    parameters,
    requestBody: {
      required: true,
      content: {
        'application/json': { schema: copySchema(eventPayload(kind)), example: buildExamplePayload(kind) },
      },
    },
    responses: {
      '2XX': { description: 'Accepted; respond within 5 seconds' },
      default: {
        description: 'Any other status, and no response within 30 seconds, is retried; redirects are not followed',
      },
    },
  },
});

// Descriptions are added in place, so no two properties may share an object; structuredClone would keep them shared.
const copySchema = (schema: object): object => JSON.parse(JSON.stringify(schema));
