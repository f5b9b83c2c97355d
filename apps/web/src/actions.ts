// All that the dashboard knows of the API: the types of the actions that it is handed.
import type { WebActionData } from '../../api/src/handlers/actions/web/build.ts';

export type { WebActionData, WebActions } from '../../api/src/handlers/actions/web/build.ts';

/** What the page of a task shows. */
export type TaskView = WebActionData<'getTaskPage'>;

/** What the form is filled from. */
export type TaskFormData = WebActionData<'openTaskForm'>;
export type StoredTask = NonNullable<TaskFormData['task']>;
