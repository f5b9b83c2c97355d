import { Type } from '@sinclair/typebox';
import { BackfillTaskInput } from '../../occurrences.ts';
import { Cursor, Id, InstantInput, nullable, strictObject } from '../../primitives.ts';
import { VersionParams } from '../../tasks/versions.ts';
import { CONFIRMATION, userAction } from './define.ts';

/** Null for the account. */
const FeedOwner = strictObject({ taskId: nullable(Id) });

const VersionId = strictObject(VersionParams.properties);

export const taskPageActions = {
  getTaskPage: userAction(strictObject({ id: Id })),
  /** Null ends the pause. */
  pauseTaskUntil: userAction(strictObject({ id: Id, until: nullable(InstantInput) })),
  /** Skips the next run if it is the one that the page shows. */
  skipNextRun: userAction(strictObject({ id: Id, plannedFor: InstantInput })),
  /** Of a task, or of all tasks. A former address ends. */
  createFeed: userAction(strictObject({ ...FeedOwner.properties, ...CONFIRMATION })),
  endFeed: userAction(FeedOwner),
  listTaskVersions: userAction(strictObject({ id: Id, cursor: Type.Optional(Cursor) })),
  /** With the version before it, and the task as it is. */
  getTaskVersion: userAction(VersionId),
  /** CONFLICT unless the task still has this revision. */
  restoreTaskVersion: userAction(strictObject({ ...VersionId.properties, revision: Type.Integer() })),
  backfillTask: userAction(strictObject({ ...BackfillTaskInput.properties, id: Id })),
};
