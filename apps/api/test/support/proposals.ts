import { randomUUID } from 'node:crypto';
import { DAY_MS } from '@carillon/contract/primitives';
import { taskProposals } from '@carillon/db';
import type { Context } from '../../src/context.ts';
import type { Person } from './people.ts';
import { TASK } from './tasks.ts';

/** Inserts a proposal of a task, for the person. Returns its id. */
export async function insertProposal(
  ctx: Pick<Context, 'db' | 'now'>,
  { id: userId }: Pick<Person, 'id'>,
  draft: object = TASK,
): Promise<string> {
  const id = randomUUID();
  const createdAt = ctx.now();
  const expiresAt = new Date(createdAt.getTime() + DAY_MS);
  await ctx.db.insert(taskProposals).values({ id, userId, draft: { ...draft }, createdAt, expiresAt });
  return id;
}
