import type { Context } from '../../context.ts';
import { describeActor, recordAudit } from '../../platform/events/audit-log.ts';
import type { ToolCall } from './tool.ts';

/** The log says who asked, because changes over the other routes are not in it. */
type ToolChange =
  | 'task.created_by_assistant'
  | 'task.changed_by_assistant'
  | 'task.deleted_by_assistant'
  | 'execution.started_by_assistant'
  | 'execution.cancelled_by_assistant';

/** Writes the audit entry of a change by a tool. Call it in the transaction of the change. */
export async function recordToolChange(
  tx: Context,
  { caller, client, tool }: Pick<ToolCall, 'caller' | 'client' | 'tool'>,
  kind: ToolChange,
  details: { taskId: number; executionId?: number },
): Promise<void> {
  const key = { keyId: caller.apiKey?.id, keyName: caller.apiKey?.name };
  await recordAudit(tx, { kind, ...describeActor(caller), details: { tool, ...details, ...key, client } });
}
