import type { PageRoutes } from '../../http/routes.ts';
import { addUsageAlert, removeUsageAlert } from './change-alerts.ts';
import { downloadUsage } from './csv.ts';
import { showUsage } from './show.ts';

export function usagePages({ user }: PageRoutes): void {
  user('GET', '/usage', showUsage);
  user('GET', '/usage.csv', downloadUsage);
  user('POST', '/usage/alerts', addUsageAlert);
  user('POST', '/usage/alerts/:id/remove', removeUsageAlert);
}
