import { getTaskWithRuns } from '../../../tasks/task-page.ts';
import type { WebActionBuilder } from '../create-web-action.ts';

export const taskPageActions = ({ signedIn }: WebActionBuilder) => ({
  getTaskPage: signedIn('getTaskPage', ({ ctx, caller }, { id }) => getTaskWithRuns(ctx, caller, id)),
});
