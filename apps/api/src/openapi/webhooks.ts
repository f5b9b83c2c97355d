import { EVENT_KINDS, type EventKind, eventPayload } from '@carillon/contract/events';
import { buildExamplePayload } from '@carillon/contract/examples/events';

/** Specification "Delivery headers", and those of Standard Webhooks (decisions §8). */
const HEADERS: [name: string, example: string, description: string][] = [
  ['User-Agent', 'Carillon-Webhook/1.0', 'Who sends it'],
  ['X-Webhook-ID', '3f6c9b5e-8a1d-4c57-9a43-0d5f6a1b2c3d', 'The webhook'],
  [
    'X-Webhook-Signature',
    'sha256=2f8a…',
    'HMAC-SHA256 of the raw body, keyed with the whole secret, in lower-case hex. Compare in constant time.',
  ],
  ['X-Request-ID', '9d3c1f0e-2b6a-4f57-8c8e-6a1d5b7e9f20', 'The request or run that caused the event'],
  ['X-Event-Type', 'task.completed', 'The kind of event'],
  ['X-Delivery-Attempt', '1', 'From 1 on; a delivery that is sent again begins anew'],
  ['X-Previous-Attempt', '2026-11-20T07:30:03.871Z', 'When the attempt before began; on retries only'],
  [
    'webhook-id',
    'c7e0a5b4-41d9-4f7e-9a6d-2b8e1f3c5d70',
    'The delivery: the same at each attempt, so that you can tell a duplicate',
  ],
  ['webhook-timestamp', '1795159803', 'Seconds since the epoch; refuse what is older than 5 minutes'],
  [
    'webhook-signature',
    'v1,K5oZ…',
    'Standard Webhooks: HMAC-SHA256 of `id.timestamp.body`, keyed with what follows `whsec_`, base64-decoded. Two of them, with a space between, for 24 hours after a rotation.',
  ],
];

/** Specification "Data by event kind". */
const WHEN: Record<EventKind, string> = {
  'task.created': 'When a task is created, or copied.',
  'task.updated': 'When a task is changed; `changes` has what was and what is, by field.',
  'task.deleted': 'When a task is deleted.',
  'task.started': 'When a run of a task begins, before the model is asked; as `execution.started`.',
  'task.completed': 'When a run succeeds; as `execution.completed`.',
  'task.failed': 'When a run fails, also where a retry follows; as `execution.failed`.',
  'execution.started': 'When a run begins, before the model is asked.',
  'execution.completed': 'When a run succeeds.',
  'execution.failed': 'When a run fails; `retryScheduled` says whether it is tried again, and `nextRetryAt` when.',
  'usage.alert': 'When usage reaches the threshold of an alert, once a month for each resource.',
  test: 'When a test is asked for, once and without a retry.',
};

const parameters = HEADERS.map(([name, example, description]) => ({
  ...{ name, in: 'header', required: name !== 'X-Previous-Attempt', description },
  ...{ schema: { type: 'string' as const }, example },
}));

/** The `webhooks` of the OpenAPI document: what receivers are sent (specification "Events"). */
export const describeEvents = () => Object.fromEntries(EVENT_KINDS.map((kind) => [kind, describeEvent(kind)]));

const describeEvent = (kind: EventKind) => ({
  post: {
    operationId: `on.${kind}`,
    summary: kind === 'test' ? 'Sent on request' : `Sent to the webhooks that subscribe to ${kind}`,
    description: `${WHEN[kind]} Proved by its signature, which a receiver checks before anything else.`,
    security: [],
    parameters,
    requestBody: {
      required: true,
      content: { 'application/json': { schema: copyOf(eventPayload(kind)), example: buildExamplePayload(kind) } },
    },
    responses: {
      '2XX': { description: 'Received; answer within 5 seconds' },
      default: {
        description: 'Anything else, and no answer within 30 seconds, is tried again; redirects are not followed',
      },
    },
  },
});

/** The document is completed in place, and the kinds of event share their schemas. */
const copyOf = (schema: object): object => JSON.parse(JSON.stringify(schema));
