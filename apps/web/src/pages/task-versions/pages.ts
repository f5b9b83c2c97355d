import type { PageRoutes } from '../../http/routes.ts';
import { showVersions } from './list.ts';
import { confirmRestore, restore, showVersion } from './show.ts';

export function versionPages({ user }: PageRoutes): void {
  user('GET', '/tasks/:id/versions', showVersions);
  user('GET', '/tasks/:id/versions/:number', showVersion);
  user('GET', '/tasks/:id/versions/:number/restore', confirmRestore);
  user('POST', '/tasks/:id/versions/:number/restore', restore);
}
