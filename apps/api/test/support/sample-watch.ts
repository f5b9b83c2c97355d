import { alerts } from '@carillon/db';
import type { Context } from '../../src/context.ts';
import type { SampleTask } from './sample-runs.ts';

const SCHEMA = {
  type: 'object',
  properties: {
    price: { type: 'number', description: 'The lowest price in euros' },
    shop: { type: 'string' },
    summary: { type: 'string' },
    offers: {
      type: 'array',
      items: {
        type: 'object',
        properties: { shop: { type: 'string' }, price: { type: 'number' }, inStock: { type: 'boolean' } },
        required: ['shop', 'price'],
      },
    },
  },
  required: ['price', 'shop'],
};

/** A task that only tells of a changed price. */
export const WATCHED: Pick<SampleTask, 'settings' | 'findOutput'> = {
  settings: {
    outputSchema: SCHEMA,
    notify: 'change',
    watch: ['price'],
    alerts: { overdueMinutes: 30, failuresInRow: 2, costAboveUsd: 0.5 },
    monthlyBudgetUsd: 5,
    notificationEmail: 'purchasing@gartenhof.example',
  },
  findOutput: (at) => {
    const price = at < 2 ? 59.9 : at < 17 ? 64.9 : 62.5;
    return {
      price,
      shop: 'Gartenhof',
      summary: `The 40 L compost bin costs ${price.toFixed(2)} € at Gartenhof, the lowest of three.`,
      offers: [
        { shop: 'Gartenhof', price, inStock: true },
        { shop: 'Grünwerk', price: 66.5, inStock: true },
        { shop: 'Kompostprofi', price: 69.95, inStock: at % 9 > 3 },
      ],
    };
  },
};

interface FailedRun {
  id: number;
  taskId: number;
  plannedFor: Date | null;
}

/** The alert of a task whose run has failed again. */
export async function insertAlert(
  { db }: Context,
  userId: number,
  { id, taskId, plannedFor }: FailedRun,
): Promise<void> {
  const title = 'Task "Nightly error digest" failed 3 times in a row';
  const message = 'The last error: The provider did not answer within 60 s.';
  const at = plannedFor ?? new Date();
  const createdAt = new Date(at.getTime() + 60_400);
  const data = {
    task: { id: taskId, name: 'Nightly error digest' },
    execution: { id, status: 'failed' },
    failuresInRow: 3,
    error: 'The provider did not answer within 60 s.',
    errorCode: 'TIMEOUT',
  };
  await db
    .insert(alerts)
    .values({ userId, taskId, kind: 'task.failing', at, executionId: id, title, message, data, createdAt });
}
