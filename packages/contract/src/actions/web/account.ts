import { Type } from '@sinclair/typebox';
import { LoginInput, RegisterInput } from '../../accounts/auth.ts';
import { Email, Instant, nullable, Password, strictObject, stringEnum } from '../../primitives.ts';
import { guestAction, NoData, NoInput, userAction } from './define.ts';

const OpenedSession = strictObject({ session: Type.String(), expiresAt: Instant });

/** Any string: a token that was never issued is unknown, not invalid input. */
const LinkToken = Type.String({ maxLength: 1024 });
const LinkInput = strictObject({ token: LinkToken });

const UNUSABLE = ['invalid', 'expired', 'used'] as const;

/** What a link to confirm an address is for. */
const Confirmation = stringEnum(['change_approved', 'email_changed', 'notifications_confirmed']);

export const accountActions = {
  /** What a visitor has to know before the sign-in. */
  getSignInState: guestAction(NoInput, strictObject({ isMaintenance: Type.Boolean(), hasAccounts: Type.Boolean() })),
  signIn: guestAction(LoginInput, OpenedSession),
  signUp: guestAction(RegisterInput, OpenedSession),
  signOut: userAction(NoInput, NoData),

  requestReset: guestAction(strictObject({ email: Email }), NoData),
  /** Does not use the link. */
  findReset: guestAction(LinkInput, strictObject({ state: stringEnum(['open', ...UNUSABLE]) })),
  resetPassword: guestAction(
    strictObject({ token: LinkToken, newPassword: Password }),
    strictObject({ state: stringEnum(['changed', ...UNUSABLE]) }),
  ),

  /** Does not use the link. Null for one that cannot be used. */
  findConfirmation: guestAction(
    LinkInput,
    nullable(strictObject({ purpose: Confirmation, email: Type.String({ description: 'What is confirmed' }) })),
  ),
  /** Null for a link that cannot be used. */
  confirmEmail: guestAction(LinkInput, strictObject({ confirmed: nullable(Confirmation) })),

  /** Ends the mails of a channel. Says nothing about a link that was never sent. */
  unsubscribe: guestAction(LinkInput, NoData),

  /** The state of a setup link, which makes the first admin. */
  findSetup: guestAction(LinkInput, strictObject({ state: stringEnum(['open', ...UNUSABLE]) })),
  /** `opened` is null if the link cannot be used. */
  setUp: guestAction(
    strictObject({ token: LinkToken, ...RegisterInput.properties }),
    strictObject({ state: stringEnum(['open', ...UNUSABLE]), opened: nullable(OpenedSession) }),
  ),
};
