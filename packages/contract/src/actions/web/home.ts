import { Type } from '@sinclair/typebox';
import { InstantInput, strictObject } from '../../primitives.ts';
import { userAction } from './define.ts';

export const homeActions = {
  getOverview: userAction(strictObject({ since: Type.Optional(InstantInput) })),
};
