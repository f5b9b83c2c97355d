import type { PageRoutes } from '../../http/routes.ts';
import { showAlerts } from './list.ts';

export function alertPages({ user }: PageRoutes): void {
  user('GET', '/alerts', showAlerts);
}
