import type { PageRoutes } from '../../http/routes.ts';
import { changeChosen, changeOne } from './changes.ts';
import { confirmDeletion, confirmDeletions, deleteChosen } from './delete.ts';
import { showTasks } from './list.ts';
import { pauseUntil } from './pause.ts';
import { showTask } from './task.ts';

export function taskPages({ user }: PageRoutes): void {
  user('GET', '/tasks', showTasks);
  user('POST', '/tasks', changeChosen);
  user('GET', '/tasks/delete', confirmDeletions);
  user('POST', '/tasks/delete', deleteChosen);
  user('GET', '/tasks/:id', showTask);
  user('POST', '/tasks/:id', changeOne);
  user('POST', '/tasks/:id/pause', pauseUntil);
  user('GET', '/tasks/:id/delete', confirmDeletion);
}
