import { ListTasksQuery, listTasks } from '../../tasks.ts';
import { bodyOf, userAction } from './define.ts';

export const taskActions = {
  listTasks: userAction(ListTasksQuery, bodyOf(listTasks)),
};
