import { listTasks } from '../../tasks/read.ts';
import type { WebActionBuilder } from './create-web-action.ts';

export const taskActions = ({ signedIn }: WebActionBuilder) => ({
  listTasks: signedIn('listTasks', async ({ ctx, caller }, query) => listTasks(ctx, caller, query)),
});
