import { Type } from '@sinclair/typebox';
import { LoginInput, RegisterInput } from '../../accounts/auth.ts';
import { Email, Password, strictObject } from '../../primitives.ts';
import { factorAction, guestAction, NoInput } from './define.ts';

/** Any string: a token that was never issued is unknown, not invalid input. */
const LinkToken = Type.String({ maxLength: 1024 });
const LinkInput = strictObject({ token: LinkToken });

export const accountActions = {
  /** What a visitor has to know before the sign-in. */
  getSignInState: guestAction(NoInput),
  signIn: guestAction(LoginInput),
  signUp: guestAction(RegisterInput),
  signOut: factorAction(NoInput),

  requestReset: guestAction(strictObject({ email: Email })),
  /** Does not use the link. */
  findReset: guestAction(LinkInput),
  resetPassword: guestAction(strictObject({ token: LinkToken, newPassword: Password })),

  /** Does not use the link. Null for one that cannot be used. */
  findConfirmation: guestAction(LinkInput),
  /** Null for a link that cannot be used. */
  confirmEmail: guestAction(LinkInput),

  /** Ends the mails of a channel. Says nothing about a link that was never sent. */
  unsubscribe: guestAction(LinkInput),

  /** The state of a setup link, which makes the first admin. */
  findSetup: guestAction(LinkInput),
  /** `opened` is null if the link cannot be used. */
  setUp: guestAction(strictObject({ token: LinkToken, ...RegisterInput.properties })),
};
