import type { FormErrors } from '../../../components/fields.ts';
import type { Html } from '../../../html.ts';
import type { OpenedForm } from '../opened.ts';
import type { Typed } from '../typed.ts';

/** What the settings are rendered from. */
export interface Shown {
  typed: Typed;
  opened: OpenedForm;
  errors: FormErrors;
  now: Date;
  /** What would be sent, if that was asked for. */
  sent: Html | undefined;
}
