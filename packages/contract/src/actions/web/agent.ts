import { ConfirmTaskInput, ProcessMessageInput } from '../../agent.ts';
import { strictObject, Uuid } from '../../primitives.ts';
import { userAction } from './define.ts';

export const agentActions = {
  askAgent: userAction(ProcessMessageInput),
  /** NOT_FOUND once it has expired. No occurrences follow if its first run has passed. */
  getProposal: userAction(strictObject({ id: Uuid })),
  /** Creates the task. CONFLICT if it was created before. */
  confirmProposal: userAction(strictObject({ id: Uuid, changes: ConfirmTaskInput.properties.changes })),
};
