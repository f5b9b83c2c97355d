import type { WebActionData } from '@carillon/contract/actions/web/index';

/** What the form is filled from. */
export type OpenedForm = WebActionData<'openTaskForm'>;
export type StoredTask = NonNullable<OpenedForm['task']>;
