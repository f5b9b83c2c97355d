import type { Texts } from '@carillon/texts';
import type { TaskFormData } from '../../../actions.ts';
import type { FormErrors } from '../../../components/fields.ts';
import type { Html } from '../../../html.ts';
import type { FormValues } from '../form-values.ts';

/** What the settings are rendered from. */
export interface SectionProps {
  values: FormValues;
  formData: TaskFormData;
  errors: FormErrors;
  now: Date;
  texts: Texts;
  /** What would be sent, if that was asked for. */
  sent: Html | undefined;
  /** What the sources say, if that was asked for. */
  looked?: Html | undefined;
}
