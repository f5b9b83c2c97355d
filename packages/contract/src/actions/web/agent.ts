import { Type } from '@sinclair/typebox';
import { ConfirmTaskInput, ProcessMessageInput, ProcessMessageResult, TaskProposal } from '../../agent.ts';
import { ChannelChoice } from '../../channels/choices.ts';
import { Id, nullable, strictObject, Uuid } from '../../primitives.ts';
import { userAction } from './define.ts';

export const agentActions = {
  askAgent: userAction(ProcessMessageInput, Type.Omit(ProcessMessageResult, ['success'])),
  /** NOT_FOUND once it has expired. No occurrences follow if its first run has passed. */
  getProposal: userAction(
    strictObject({ id: Uuid }),
    Type.Object({
      ...TaskProposal.properties,
      isConfirmed: Type.Boolean(),
      /** Those that the task names. */
      channels: Type.Array(ChannelChoice),
      /** The task that was created; null before, and after its deletion. */
      taskId: nullable(Id),
    }),
  ),
  /** Creates the task. CONFLICT if it was created before. */
  confirmProposal: userAction(
    strictObject({ id: Uuid, changes: ConfirmTaskInput.properties.changes }),
    Type.Object({ taskId: Id }),
  ),
};
