import type { PageRoutes } from '../../http/routes.ts';
import { showTasks } from './list.ts';

export function taskPages({ user }: PageRoutes): void {
  user('GET', '/tasks', showTasks);
}
