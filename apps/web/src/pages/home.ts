import { html } from '../html.ts';
import type { PageRoutes } from '../http/routes.ts';
import { formatLongDay } from '../parts/format.ts';

export function homePages({ user }: PageRoutes): void {
  user('GET', '/', ({ now, timeZone }) => ({
    title: 'Home',
    lead: formatLongDay(now, timeZone),
    body: html``,
    isLive: true,
  }));
}
