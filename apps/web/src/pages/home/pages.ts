import type { PageRoutes } from '../../http/routes.ts';
import { showHome } from './show.ts';

export function homePages({ user }: PageRoutes): void {
  user('GET', '/', showHome);
}
