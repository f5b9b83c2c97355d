import type * as apps from '../accounts/apps.ts';
import type { ExamplesFor } from './example.ts';
import { API_KEY, CREATED, NOW, success } from './fixtures.ts';

const app: apps.App = {
  id: API_KEY,
  name: 'Claude',
  host: 'claude.ai',
  scopes: ['tasks:read', 'executions:read', 'usage:read'],
  createdAt: CREATED,
  lastUsedAt: NOW,
};

export const appsExamples: ExamplesFor<typeof apps> = {
  listApps: {
    query: { limit: 50 },
    response: { 200: { success, apps: [app], pagination: { limit: 50, hasMore: false, nextCursor: null } } },
  },
  disconnectApp: {
    params: { id: API_KEY },
    response: { 200: { success, message: 'The app is disconnected.' } },
    errors: { 404: 'Connected app not found' },
  },
};
