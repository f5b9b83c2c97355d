import { Email, strictObject } from '../../primitives.ts';
import { guestAction, NoData, NoInput, userAction } from './define.ts';

export const accountActions = {
  signOut: userAction(NoInput, NoData),
  requestReset: guestAction(strictObject({ email: Email }), NoData),
};
