import { randomUUID } from 'node:crypto';
import { PROPOSAL_HOURS, type TaskProposal } from '@carillon/contract/agent';
import { sql } from 'drizzle-orm';
import type { Caller, Context } from '../../../context.ts';
import { AppError } from '../../../errors.ts';
import { buildTask, type DraftSources } from './build-task.ts';
import type { Draft } from './extract-draft.ts';
import { describeProposal } from './read.ts';

const HOUR_MS = 60 * 60_000;

/** A proposal before it is stored, or what is wrong with the draft. */
export type Proposed = { proposal: TaskProposal } | { problem: string };

/** Null without a draft. */
export async function proposeTask(
  ctx: Context,
  caller: Caller,
  draft: Draft | null,
  { isCut, ...sources }: DraftSources & { isCut: boolean },
): Promise<Proposed | null> {
  if (draft === null) return null;
  if (draft.value === undefined) return { problem: isCut ? 'is longer than an answer can be' : 'cannot be read' };
  try {
    const task = await buildTask(ctx, caller, draft.value, sources);
    const expiresAt = new Date(ctx.now().getTime() + PROPOSAL_HOURS * HOUR_MS);
    return { proposal: describeProposal(ctx, { id: randomUUID(), draft: task, expiresAt }) };
  } catch (error) {
    if (!(error instanceof AppError && error.kind === 'invalid')) throw error;
    const [[field, messages] = []] = Object.entries(error.details ?? {});
    const reason = String([messages].flat()[0]).replace(/\.$/, '');
    return { problem: `is not valid (\`${field}\`: ${reason})` };
  }
}

/** What the user reads instead of a proposal. */
export const describeProblem = (problem: string) =>
  `No task is proposed, because the draft of the model ${problem}. Nothing was saved. Ask again, or create the task yourself.`;

/** Stores nothing for an account that was deleted meanwhile. */
export async function insertProposal(
  ctx: Context,
  userId: number,
  { id, task, expiresAt }: TaskProposal,
): Promise<void> {
  await ctx.db.execute(sql`
    insert into task_proposals (id, user_id, draft, created_at, expires_at)
    select ${id}::uuid, id, ${JSON.stringify(task)}::json, ${ctx.now().toISOString()}::timestamptz,
      ${new Date(expiresAt).toISOString()}::timestamptz
    from users where id = ${userId}`);
}
