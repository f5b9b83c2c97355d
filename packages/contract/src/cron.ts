import { type Static, Type } from '@sinclair/typebox';
import { success } from './envelopes.ts';
import { CRON, describedErrors, errorResponses, type Operation } from './operation.ts';

export const TickResult = Type.Object({
  success,
  processed: Type.Integer(),
  failed: Type.Integer(),
  duration: Type.Integer({ description: 'Milliseconds' }),
});
export type TickResult = Static<typeof TickResult>;

export const runScheduler = {
  operationId: 'runScheduler',
  summary: 'Run due tasks',
  description:
    'Claims and runs due executions. Responds when the claimed executions have finished, after 50 seconds at most. With `Prefer: respond-async` it responds as soon as the claims are committed. `X-Next-Due-At` is when the next run is due.',
  tags: ['cron'],
  security: CRON,
  headers: Type.Object({ prefer: Type.Optional(Type.String({ description: '`respond-async`' })) }),
  response: {
    200: TickResult,
    ...describedErrors({ 401: 'The scheduler secret is missing or wrong' }),
    ...errorResponses(429),
  },
} satisfies Operation;
