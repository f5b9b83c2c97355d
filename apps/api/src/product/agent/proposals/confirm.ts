import { compileValidator } from '@carillon/contract';
import type { ConfirmTaskInput } from '@carillon/contract/agent';
import { CreateTaskInput } from '@carillon/contract/tasks';
import { queryRows, taskProposals } from '@carillon/db';
import { eq, sql } from 'drizzle-orm';
import type { Caller, Context } from '../../../context.ts';
import { AppError, ERROR_MESSAGES, invalidField } from '../../../errors.ts';
import { inTransaction } from '../../../transaction.ts';
import { createTask } from '../../tasks/write.ts';
import { type ProposalRow, proposalNotFound } from './read.ts';

const validate = compileValidator(CreateTaskInput);

/** Returns the id of the task. Throws 400, 402, 404, and 409 with the id if it was confirmed before. */
export function confirmTask(ctx: Context, caller: Caller, { proposalId, changes }: ConfirmTaskInput): Promise<number> {
  return inTransaction(ctx, async (tx) => {
    // The account first, as its deletion locks it before its proposals.
    const [proposal] = await queryRows<Pick<ProposalRow, 'draft' | 'confirmedAt' | 'taskId'>>(
      tx.db,
      sql`
      select p.draft, p.confirmed_at as "confirmedAt", p.task_id as "taskId"
      from users u join task_proposals p on p.user_id = u.id
      where p.id = ${proposalId} and u.id = ${caller.id} and p.expires_at > ${tx.now().toISOString()}
      for key share of u for no key update of p`,
    );
    if (!proposal) throw proposalNotFound();
    const { draft, confirmedAt, taskId } = proposal;
    if (confirmedAt !== null) throw new AppError('conflict', 'This proposal was confirmed before.', { taskId });
    const created = await createTask(tx, caller, applyChanges(tx, draft, changes));
    await tx.db
      .update(taskProposals)
      .set({ confirmedAt: tx.now(), taskId: created })
      .where(eq(taskProposals.id, proposalId));
    return created;
  });
}

/** Checks the whole again: the draft may come from another version of the service. Throws 400. */
function applyChanges(
  ctx: Context,
  draft: Record<string, unknown>,
  changes: ConfirmTaskInput['changes'],
): CreateTaskInput {
  const checked = validate({ ...draft, ...changes });
  if (!checked.ok) throw new AppError('invalid', ERROR_MESSAGES.invalid, checked.details);
  const hasPassed = new Date(checked.value.scheduledFor) <= ctx.now();
  if (hasPassed && changes?.scheduledFor === undefined) {
    throw invalidField('scheduledFor', 'has passed since the task was proposed: send a new one in `changes`');
  }
  return checked.value;
}
