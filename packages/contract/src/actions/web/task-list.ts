import { Type } from '@sinclair/typebox';
import { InstantInput, MAX_ID, strictObject, stringEnum, Uuid } from '../../primitives.ts';
import { TaskStatus } from '../../tasks.ts';
import { userAction } from './define.ts';

export const TASK_SORTS = ['next', 'name', 'newest'] as const;
export const TASK_PAGE_SIZE = 25;

/** A form is shown again with the text that it sent. Longer files are for the command. */
export const MAX_FORM_FILE = 512 * 1024;

const ListInput = strictObject({
  sort: stringEnum(TASK_SORTS),
  status: Type.Optional(TaskStatus),
  needsAttention: Type.Optional(Type.Boolean({ description: 'Only tasks that need attention' })),
  search: Type.Optional(Type.String({ maxLength: 100 })),
  cursor: Type.Optional(Type.String({ maxLength: 1000 })),
});

const Ids = Type.Array(Type.Integer({ minimum: 1, maximum: MAX_ID }), { minItems: 1, maxItems: TASK_PAGE_SIZE });

export const taskListActions = {
  getTaskList: userAction(ListInput),
  /** A few by a part of their name. */
  findTasks: userAction(strictObject({ search: Type.String({ minLength: 1, maxLength: 100 }) })),
  /** Those of `ids` that the caller owns. */
  getTaskNames: userAction(strictObject({ ids: Ids })),
  runTasks: userAction(strictObject({ ids: Ids, attempt: Type.Optional(Uuid) })),
  setTaskStatuses: userAction(strictObject({ ids: Ids, status: stringEnum(['active', 'paused']) })),
  deleteTasks: userAction(strictObject({ ids: Ids })),
  /** Every active task, until then. */
  pauseAllTasks: userAction(strictObject({ until: InstantInput })),
  /** A piece of the file of all tasks. */
  readTaskFile: userAction(strictObject({ after: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_ID })) })),
  importTasks: userAction(
    strictObject({
      text: Type.String({ maxLength: MAX_FORM_FILE }),
      type: stringEnum(['yaml', 'jsonl']),
      dryRun: Type.Boolean(),
      prune: Type.Boolean(),
    }),
  ),
  /** The tasks that are paused until then. */
  endPause: userAction(strictObject({ until: InstantInput })),
};
