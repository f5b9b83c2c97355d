import { Type } from '@sinclair/typebox';
import { Cursor, Id, Instant, nullable, pageLimit, strictObject, Uuid } from '../../primitives.ts';
import { userAction } from './define.ts';

const TaskName = Type.Object({ id: Id, name: Type.String() });

const StoredFile = Type.Object({
  id: Uuid,
  name: Type.String(),
  type: Type.String(),
  size: Type.Integer(),
  uploadedAt: Instant,
  /** Null for a file in the database, which has no address. */
  url: nullable(Type.String()),
  /** Some of the tasks that have it attached. */
  tasks: Type.Array(TaskName),
  hasMoreTasks: Type.Boolean(),
});

const FileId = strictObject({ id: Uuid });

export const fileActions = {
  listFiles: userAction(
    strictObject({ limit: pageLimit(25), cursor: Type.Optional(Cursor) }),
    Type.Object({
      files: Type.Array(StoredFile),
      nextCursor: nullable(Type.String()),
      storage: Type.Object({ files: Type.Integer(), usedBytes: Type.Integer(), limitBytes: Type.Integer() }),
    }),
  ),
  getFile: userAction(FileId, StoredFile),
  deleteFile: userAction(FileId, Type.Object({ name: Type.String(), tasks: Type.Array(TaskName) })),
};
