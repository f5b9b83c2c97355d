import { type Static, Type } from '@sinclair/typebox';
import { errorResponses, type Operation, PUBLIC } from './operation.ts';
import { Instant, ref } from './primitives.ts';

export const getHealth = {
  operationId: 'getHealth',
  summary: 'Whether the service runs',
  description:
    'Answers as long as the process does, also in maintenance mode. `getReadiness` says whether it can be given requests.',
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
      database: Type.Union([Type.Literal('ok'), Type.Literal('failed')], {
        description: 'Whether it answers a statement in time',
      }),
      migrations: Type.Union([Type.Literal('ok'), Type.Literal('behind'), Type.Literal('unknown')], {
        description: 'Whether the schema is the one of this version or a newer one; unknown without the database',
      }),
      worker: Type.Union([Type.Literal('ok'), Type.Literal('stuck'), Type.Literal('stopping')], {
        description: 'Whether executions and deliveries are looked for; `stopping` once the process begins to stop',
      }),
    }),
  },
  { $id: 'Readiness' },
);
export type Readiness = Static<typeof Readiness>;

export const getReadiness = {
  operationId: 'getReadiness',
  summary: 'Whether the process may be given requests',
  description:
    'For load balancers and the monitoring. Answered in maintenance mode, under overload and while the process stops.',
  tags: ['health'],
  security: PUBLIC,
  response: {
    ...errorResponses(),
    200: ref(Readiness, 'Ready: every check is ok'),
    503: ref(Readiness, 'Not ready: the checks say why'),
  },
} satisfies Operation;

export const getLiveness = {
  operationId: 'getLiveness',
  summary: 'Whether the process answers at all',
  description:
    'For what restarts a process that hangs: says nothing of the database, and is answered as `getReadiness` is.',
  tags: ['health'],
  security: PUBLIC,
  response: { 200: Type.Object({ status: Type.Literal('live') }), ...errorResponses() },
} satisfies Operation;
