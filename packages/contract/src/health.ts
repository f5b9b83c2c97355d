import { Type } from '@sinclair/typebox';
import { errors } from './envelopes.ts';
import { type Operation, PUBLIC } from './operation.ts';
import { Instant } from './primitives.ts';

export const getHealth = {
  operationId: 'getHealth',
  summary: 'Whether the service runs',
  tags: ['health'],
  security: PUBLIC,
  response: {
    200: Type.Object({
      status: Type.String(),
      timestamp: Instant,
      version: Type.String(),
      uptime: Type.Integer({ description: 'Whole seconds since the process started' }),
    }),
    ...errors(),
  },
} satisfies Operation;
