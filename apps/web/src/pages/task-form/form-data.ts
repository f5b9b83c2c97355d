import type { WebActionData } from '../../actions.ts';

/** What the form is filled from. */
export type TaskFormData = WebActionData<'openTaskForm'>;
export type StoredTask = NonNullable<TaskFormData['task']>;
