import { type Static, type TObject, type TSchema, Type } from '@sinclair/typebox';
import { GivenPassword } from '../../primitives.ts';

/** Who may call an action: a guest names the client that it acts for instead of a session. */
export type ActionAccess = 'guest' | 'user' | 'admin';

export interface WebAction<
  A extends ActionAccess = ActionAccess,
  I extends TSchema = TSchema,
  D extends TSchema = TSchema,
> {
  access: A;
  input: I;
  data: D;
  /** Whether it changes something that asks for a recent sign-in or the password. */
  needsConfirmation: boolean;
}

/** Defines an action by the schemas of its input and of its data, whose ids are numbers and instants are texts. */
const define =
  <A extends ActionAccess>(access: A, needsConfirmation = false) =>
  <I extends TSchema, D extends TSchema>(input: I, data: D): WebAction<A, I, D> => ({
    access,
    input,
    data,
    needsConfirmation,
  });

export const guestAction = define('guest');
export const userAction = define('user');
/** What an admin reads. */
export const adminAction = define('admin');
/** What an admin changes: refused unless the session was opened, or the password given, within 15 minutes. */
export const adminChange = define('admin', true);

/** The schema of the body that an operation of the HTTP API answers, without `success`. */
export const bodyOf = <P extends TObject['properties']>(operation: { response: Record<200, TObject<P>> }) =>
  Type.Omit(operation.response[200], ['success']);

/** Needed in a session that was opened, or confirmed with the password, more than 15 minutes ago. */
export const CONFIRMATION = { currentPassword: Type.Optional(GivenPassword) };

export const NoInput = Type.Object({}, { additionalProperties: false });
export const NoData = Type.Null({ description: 'No data' });

/** The value as JSON has it: instants are texts. */
export type Plain<T> = T extends Date
  ? never
  : T extends (infer E)[]
    ? Plain<E>[]
    : T extends object
      ? { [K in keyof T]: Plain<T[K]> }
      : T;

/** Of an input schema, which has no instants but texts. */
export type InputOf<A extends WebAction> = Static<A['input']>;
/** What the service returns. */
export type ServiceDataOf<A extends WebAction> = Static<A['data']>;
