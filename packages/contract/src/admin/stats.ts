import { Type } from '@sinclair/typebox';
import { ADMIN, errorResponses, type Operation } from '../operation.ts';
import { Id } from '../primitives.ts';

const count = Type.Integer();

export const getStats = {
  operationId: 'getStats',
  summary: 'Get statistics',
  description: 'Returns current counts over all accounts.',
  tags: ['admin'],
  security: ADMIN,
  response: {
    200: Type.Object({
      users: Type.Object({ total: count, active: count, inactive: count, newLast30Days: count }),
      tasks: Type.Object({ total: count, active: count, inactive: count }),
      executions: Type.Object({
        total: count,
        last30Days: Type.Integer({ description: 'Executions of today and the 30 days before, in UTC' }),
        byStatus: Type.Object({ completed: count, failed: count, pending: count, running: count }),
        successRate: Type.Number({ description: 'Percent, 0–100, at most two decimals' }),
      }),
      coupons: Type.Object({ total: count, active: count, inactive: count }),
      topUsers: Type.Array(
        Type.Object({ userId: Id, userName: Type.String(), userEmail: Type.String(), executionCount: count }),
        { description: 'The 10 with the most executions' },
      ),
    }),
    ...errorResponses(401, 403, 429),
  },
} satisfies Operation;
