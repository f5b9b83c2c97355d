import type { PageRoutes } from '../../http/routes.ts';
import { showSearch } from './show.ts';

export function searchPages({ user }: PageRoutes): void {
  user('GET', '/search', showSearch);
}
