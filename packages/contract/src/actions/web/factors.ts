import { Type } from '@sinclair/typebox';
import { ConfirmSessionInput } from '../../accounts/auth.ts';
import { AnswerTicketInput, CreatePasskeyInput } from '../../accounts/factors.ts';
import { Code, PasskeyAssertion } from '../../accounts/proofs.ts';
import { OwnName, strictObject, Uuid } from '../../primitives.ts';
import { factorAction, factorChange, guestAction, NoInput } from './define.ts';

const ById = strictObject({ id: Uuid });
/** Of the cookie that a challenge before the sign-in belongs to. */
const Browser = Type.String({ minLength: 43, maxLength: 43 });

export const factorActions = {
  answerTicket: guestAction(AnswerTicketInput),
  /** The options of a sign-in; null where there are no passkeys. */
  getSignInOptions: guestAction(strictObject({ browser: Browser })),
  signInWithPasskey: guestAction(strictObject({ browser: Browser, response: PasskeyAssertion })),

  /** How the session can be confirmed, and until when it is. */
  getConfirmation: factorAction(NoInput),
  confirmSession: factorAction(ConfirmSessionInput),

  /** With the options of a new passkey, if the session may change factors. */
  getFactors: factorAction(NoInput),
  createTotp: factorChange(strictObject({ name: Type.Optional(OwnName) })),
  /** One that waits for its first code. */
  getTotp: factorChange(ById),
  confirmTotp: factorChange(strictObject({ ...ById.properties, code: Code })),
  createPasskey: factorChange(CreatePasskeyInput),
  deleteFactor: factorChange(ById),
  replaceRecoveryCodes: factorChange(NoInput),
};
