import type { PageRoutes } from '../../http/routes.ts';
import { backfill, openBackfill } from './backfill.ts';
import { changeChosen, changeOne } from './changes.ts';
import { confirmDeletion, confirmDeletions, deleteChosen } from './delete.ts';
import { showTasks } from './list.ts';
import { pauseUntil } from './pause.ts';
import { pauseAll } from './pause-all.ts';
import { skipNext } from './skip.ts';
import { showTask } from './task.ts';
import { tryTaskNow } from './try.ts';

export function taskPages({ user, answer }: PageRoutes): void {
  user('GET', '/tasks', showTasks);
  user('POST', '/tasks', changeChosen);
  user('GET', '/tasks/delete', confirmDeletions);
  user('POST', '/tasks/delete', deleteChosen);
  user('POST', '/tasks/pause', pauseAll);
  user('GET', '/tasks/:id', showTask);
  user('POST', '/tasks/:id', changeOne);
  answer('/tasks/:id/try', tryTaskNow);
  user('POST', '/tasks/:id/pause', pauseUntil);
  user('POST', '/tasks/:id/skip', skipNext);
  user('GET', '/tasks/:id/backfill', openBackfill);
  user('POST', '/tasks/:id/backfill', backfill);
  user('GET', '/tasks/:id/delete', confirmDeletion);
}
