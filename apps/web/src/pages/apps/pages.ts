import type { PageRoutes } from '../../http/routes.ts';
import { answerConsent, showConsent } from './consent.ts';
import { disconnectApp, showApps } from './list.ts';

export function appPages({ user }: PageRoutes): void {
  user('GET', '/oauth/authorize', showConsent);
  user('POST', '/oauth/authorize', answerConsent);
  user('GET', '/settings/apps', showApps);
  user('POST', '/settings/apps/:id/disconnect', disconnectApp);
}
