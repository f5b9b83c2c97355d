import type { Texts } from '@carillon/texts';
import { type FormErrors, renderInput } from '../../components/fields.ts';
import { EMPTY, type Html } from '../../html.ts';

/** The password, once the service has asked for it: in the 15 minutes after the sign-in it is not needed. */
export const renderConfirmation = (errors: FormErrors, { settings }: Texts): Html =>
  errors.fields.currentPassword
    ? renderInput({
        name: 'currentPassword',
        label: settings.currentPassword,
        type: 'password',
        autocomplete: 'current-password',
        required: true,
        errors,
      })
    : EMPTY;
