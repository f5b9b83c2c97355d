import type { ReceivedDelivery } from './servers/receiver.ts';

export interface ComparedDeliveries {
  lost: string[];
  doubled: string[];
  /** How often a delivery arrived again, which is allowed: a receiver knows it by its id. */
  repeated: number;
}

/** Each completed execution has one delivery, which arrives at least once. No other execution has one. */
export function compareDeliveries(
  completedIds: readonly number[],
  received: readonly ReceivedDelivery[],
): ComparedDeliveries {
  const completed = new Set(completedIds);
  const byExecution = Map.groupBy(received, ({ executionId }) => executionId);
  const countIds = (deliveries: readonly ReceivedDelivery[]) => new Set(deliveries.map(({ id }) => id)).size;
  const distinct = [...byExecution].map(([executionId, deliveries]) => ({ executionId, count: countIds(deliveries) }));
  return {
    lost: [
      ...completedIds
        .filter((id) => !byExecution.has(id))
        .map((id) => `lost: the event of execution ${id} did not arrive`),
      ...[...byExecution.keys()]
        .filter((id) => !completed.has(id))
        .map((id) => `lost: the event of execution ${id} arrived, but it is not completed`),
    ],
    doubled: distinct
      .filter(({ count }) => count > 1)
      .map(({ executionId, count }) => `doubled: execution ${executionId} has ${count} deliveries`),
    repeated: received.length - distinct.reduce((sum, { count }) => sum + count, 0),
  };
}
