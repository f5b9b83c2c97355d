import { Type } from '@sinclair/typebox';
import { SetUsageAlertInput } from '../../accounts/usage.ts';
import { Id, strictObject } from '../../primitives.ts';
import { userAction } from './define.ts';

export const usageActions = {
  getUsageMonth: userAction(strictObject({ month: Type.Optional(Type.String({ maxLength: 20 })) })),
  setUsageAlert: userAction(SetUsageAlertInput),
  deleteUsageAlert: userAction(strictObject({ id: Id })),
};
