import type * as events from '../events.ts';
import { buildExamplePayload } from './events.ts';
import type { ExamplesFor } from './example.ts';
import { success } from './fixtures.ts';

const { event, timestamp, data } = buildExamplePayload('task.completed');
const logged = { id: '312', event, timestamp, data };

export const eventLogExamples: ExamplesFor<typeof events> = {
  listEvents: {
    query: { after: '311', kinds: 'task.completed,task.failed', limit: 1 },
    headers: { 'last-event-id': '311' },
    response: {
      200: {
        success,
        events: [logged],
        pagination: { limit: 1, hasMore: false, nextAfter: '312' },
      },
    },
    eventStream: `retry: 2000\nid: 311\n\nid: 312\nevent: ${event}\ndata: ${JSON.stringify(logged)}\n\n: keep-alive\n\n`,
  },
};
