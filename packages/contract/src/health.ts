import { type Static, Type } from '@sinclair/typebox';
import { errorResponses, type Operation, PUBLIC } from './operation.ts';
import { Instant, ref } from './primitives.ts';

export const getHealth = {
  operationId: 'getHealth',
  summary: 'Get the health of the service',
  description:
    'Responds as long as the process runs, also in maintenance mode. `getReadiness` reports whether the process can serve requests.',
  tags: ['health'],
  security: PUBLIC,
  response: {
    200: Type.Object({
      status: Type.String(),
      timestamp: Instant,
      version: Type.String(),
      uptime: Type.Integer({ description: 'Whole seconds since the process started' }),
    }),
    ...errorResponses(),
  },
} satisfies Operation;

export const Readiness = Type.Object(
  {
    status: Type.Union([Type.Literal('ready'), Type.Literal('not_ready')]),
    checks: Type.Object({
      database: Type.Union([Type.Literal('ok'), Type.Literal('read_only'), Type.Literal('failed')], {
        description: 'Whether the database answers a query in time, and accepts changes',
      }),
      migrations: Type.Union([Type.Literal('ok'), Type.Literal('behind'), Type.Literal('unknown')], {
        description: 'Whether the schema belongs to this version or a newer one; unknown without the database',
      }),
      worker: Type.Union(
        [Type.Literal('ok'), Type.Literal('starting'), Type.Literal('stuck'), Type.Literal('stopping')],
        {
          description:
            'Whether the worker loops run; `starting` while the process waits for its database or prepares for its first run, `stopping` during shutdown',
        },
      ),
      scheduler: Type.Union([Type.Literal('ok'), Type.Literal('silent'), Type.Literal('unknown')], {
        description:
          '`silent` if the scheduler has not called for two minutes; unknown without the database. The process is ready nevertheless: the scheduler can call only processes that are',
      }),
    }),
    reason: Type.Optional(Type.String({ description: 'Why the database cannot be used; only if it cannot' })),
  },
  { $id: 'Readiness' },
);
export type Readiness = Static<typeof Readiness>;

export const getReadiness = {
  operationId: 'getReadiness',
  summary: 'Get readiness',
  description:
    'For load balancers and monitoring: whether the process can serve requests. Responds in maintenance mode, under overload and during shutdown.',
  tags: ['health'],
  security: PUBLIC,
  response: {
    ...errorResponses(),
    200: ref(Readiness, 'Ready: every check but `scheduler` is `ok`'),
    503: ref(Readiness, 'Not ready: see the checks'),
  },
} satisfies Operation;

export const getLiveness = {
  operationId: 'getLiveness',
  summary: 'Get liveness',
  description:
    'For supervisors that restart a hanging process. Does not check the database. Responds whenever `getReadiness` does.',
  tags: ['health'],
  security: PUBLIC,
  response: { 200: Type.Object({ status: Type.Literal('live') }), ...errorResponses() },
} satisfies Operation;
