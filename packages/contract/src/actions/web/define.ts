import { type TSchema, Type } from '@sinclair/typebox';
import { GivenPassword } from '../../primitives.ts';

/** Who may call an action: a guest names the client that it acts for instead of a session. */
export type ActionAccess = 'guest' | 'user' | 'admin';

export interface WebAction<A extends ActionAccess = ActionAccess, I extends TSchema = TSchema> {
  access: A;
  input: I;
  /** Whether it changes something that asks for a recent sign-in or the password. */
  needsConfirmation: boolean;
  /** Whether it is a part of adding the second factor that the installation asks for. */
  isOpenWithoutFactor: boolean;
}

/** Defines an action by the schema of its input. Its data has the type that its function in the API returns. */
const define =
  <A extends ActionAccess>(access: A, { needsConfirmation = false, isOpenWithoutFactor = false } = {}) =>
  <I extends TSchema>(input: I): WebAction<A, I> => ({ access, input, needsConfirmation, isOpenWithoutFactor });

export const guestAction = define('guest');
export const userAction = define('user');
/** What an admin reads. */
export const adminAction = define('admin');
/** What an admin changes: refused unless the session was opened, or the password given, within 15 minutes. */
export const adminChange = define('admin', { needsConfirmation: true });
/** A part of adding a second factor. */
export const factorAction = define('user', { isOpenWithoutFactor: true });
export const factorChange = define('user', { needsConfirmation: true, isOpenWithoutFactor: true });

/** Needed in a session that was opened, or confirmed with the password, more than 15 minutes ago. */
export const CONFIRMATION = { currentPassword: Type.Optional(GivenPassword) };

export const NoInput = Type.Object({}, { additionalProperties: false });
