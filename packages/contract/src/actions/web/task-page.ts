import { BackfillTaskInput } from '../../occurrences.ts';
import { Id, InstantInput, nullable, strictObject } from '../../primitives.ts';
import { CONFIRMATION, userAction } from './define.ts';

/** Null for the account. */
const FeedOwner = strictObject({ taskId: nullable(Id) });

export const taskPageActions = {
  getTaskPage: userAction(strictObject({ id: Id })),
  /** Null ends the pause. */
  pauseTaskUntil: userAction(strictObject({ id: Id, until: nullable(InstantInput) })),
  /** Skips the next run if it is the one that the page shows. */
  skipNextRun: userAction(strictObject({ id: Id, plannedFor: InstantInput })),
  /** Of a task, or of all tasks. A former address ends. */
  createFeed: userAction(strictObject({ ...FeedOwner.properties, ...CONFIRMATION })),
  endFeed: userAction(FeedOwner),
  backfillTask: userAction(strictObject({ ...BackfillTaskInput.properties, id: Id })),
};
