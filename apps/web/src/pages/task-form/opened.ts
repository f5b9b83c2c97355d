import type { WebActionData } from '../../actions.ts';

/** What the form is filled from. */
export type OpenedForm = WebActionData<'openTaskForm'>;
export type StoredTask = NonNullable<OpenedForm['task']>;
