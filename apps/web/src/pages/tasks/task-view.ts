import type { WebActionData } from '@carillon/contract/actions/web/index';

/** What the page of a task shows. */
export type TaskView = WebActionData<'getTaskPage'>;
