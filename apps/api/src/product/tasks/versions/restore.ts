import type { Caller, Context } from '../../../context.ts';
import type { ExpectedRevisions } from '../../../platform/queries/revision.ts';
import { inTransaction } from '../../../transaction.ts';
import type { TaskRow } from '../read.ts';
import { changeTask } from '../write.ts';
import { getVersion } from './read.ts';

/** Gives a task what a version has, as a new version. Throws 404, 412, and 400 that names what is lost since. */
export function restoreVersion(
  ctx: Context,
  caller: Caller,
  id: number,
  number: number,
  expected: ExpectedRevisions = null,
): Promise<TaskRow> {
  return inTransaction(ctx, async (tx) => {
    const { task } = await getVersion(tx, caller, id, number);
    return changeTask(tx, caller, id, task, expected, { isRestored: true });
  });
}
