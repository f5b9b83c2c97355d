import { Type } from '@sinclair/typebox';
import { Cursor, pageLimit, strictObject, Uuid } from '../../primitives.ts';
import { userAction } from './define.ts';

const FileId = strictObject({ id: Uuid });

export const fileActions = {
  listFiles: userAction(strictObject({ limit: pageLimit(25), cursor: Type.Optional(Cursor) })),
  getFile: userAction(FileId),
  deleteFile: userAction(FileId),
};
