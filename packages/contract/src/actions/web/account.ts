import { Type } from '@sinclair/typebox';
import { LoginInput } from '../../accounts/auth.ts';
import { Email, Instant, strictObject } from '../../primitives.ts';
import { guestAction, NoData, NoInput, userAction } from './define.ts';

export const accountActions = {
  signIn: guestAction(LoginInput, strictObject({ session: Type.String(), expiresAt: Instant })),
  signOut: userAction(NoInput, NoData),
  requestReset: guestAction(strictObject({ email: Email }), NoData),
};
