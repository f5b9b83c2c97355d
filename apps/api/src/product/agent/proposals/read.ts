import { MAX_PROPOSED_OCCURRENCES, type TaskProposal } from '@carillon/contract/agent';
import type { CreateTaskInput } from '@carillon/contract/tasks';
import { taskProposals } from '@carillon/db';
import type { Language } from '@carillon/texts';
import { and, eq, gt } from 'drizzle-orm';
import type { Caller, Context } from '../../../context.ts';
import { AppError } from '../../../errors.ts';
import { previewOccurrences } from '../../schedule/preview.ts';
import { toPlan } from '../../tasks/schedule.ts';

export type ProposalRow = typeof taskProposals.$inferSelect;

/** Also for a proposal of another user, and for one that has expired. */
export const proposalNotFound = () => new AppError('not_found', 'Proposal not found. It may have expired.');

/** In the language of the caller. Throws 404. */
export async function getProposal(ctx: Context, caller: Caller, id: string) {
  const isOpen = gt(taskProposals.expiresAt, ctx.now());
  const [row] = await ctx.db
    .select()
    .from(taskProposals)
    .where(and(eq(taskProposals.id, id), eq(taskProposals.userId, caller.id), isOpen));
  if (!row) throw proposalNotFound();
  return { ...describeProposal(ctx, row, caller.language), isConfirmed: row.confirmedAt !== null, taskId: row.taskId };
}

export function describeProposal(
  ctx: Context,
  { id, draft, expiresAt }: Pick<ProposalRow, 'id' | 'draft' | 'expiresAt'>,
  language: Language | null = null,
): TaskProposal {
  const task = draft as CreateTaskInput;
  const occurrences = previewOccurrences(toPlan(task), ctx.now(), MAX_PROPOSED_OCCURRENCES, language);
  return { id, task, occurrences, expiresAt };
}
