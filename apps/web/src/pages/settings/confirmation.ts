import type { Texts } from '@carillon/texts';
import { type FormErrors, renderCurrentPassword } from '../../components/fields.ts';
import { EMPTY, type Html } from '../../html.ts';

/** The password, once the service has asked for it: in the 15 minutes after the sign-in it is not needed. */
export const renderConfirmation = (errors: FormErrors, texts: Texts): Html =>
  errors.fields.currentPassword ? renderCurrentPassword(texts, errors) : EMPTY;
