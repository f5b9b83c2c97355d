import type { WebActionData } from '../../actions.ts';

/** What the page of a task shows. */
export type TaskView = WebActionData<'getTaskPage'>;
