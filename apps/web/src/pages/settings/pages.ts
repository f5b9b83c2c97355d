import type { PageRoutes } from '../../http/routes.ts';
import { saveSetting, showSettings } from './account.ts';
import { deleteAccount, showDeletion } from './delete-account.ts';
import { exportAccount, showExport } from './export.ts';
import { deleteKey, renameKey, showKeyDeletion, showKeyName } from './keys/change.ts';
import { createKey } from './keys/create.ts';
import { showKeys } from './keys/list.ts';
import { endOtherSessions, endSession, showSessions } from './sessions.ts';

export function settingsPages({ user }: PageRoutes): void {
  user('GET', '/settings', showSettings);
  user('POST', '/settings', saveSetting);
  user('GET', '/settings/export', showExport);
  user('POST', '/settings/export', exportAccount);
  user('GET', '/settings/delete', showDeletion);
  user('POST', '/settings/delete', deleteAccount);
  user('GET', '/settings/sessions', showSessions);
  user('POST', '/settings/sessions/end-others', endOtherSessions);
  user('POST', '/settings/sessions/:id/end', endSession);
  user('GET', '/settings/keys', showKeys);
  user('POST', '/settings/keys', createKey);
  user('GET', '/settings/keys/:id', showKeyName);
  user('POST', '/settings/keys/:id', renameKey);
  user('GET', '/settings/keys/:id/delete', showKeyDeletion);
  user('POST', '/settings/keys/:id/delete', deleteKey);
}
