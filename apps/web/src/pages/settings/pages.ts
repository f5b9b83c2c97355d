import type { PageRoutes } from '../../http/routes.ts';
import { SETTING_TABS } from './account.ts';
import { deleteAccount, showDeletion } from './delete-account.ts';
import { exportAccount, showExport } from './export.ts';
import { deleteKey, renameKey, showKeyDeletion, showKeyName } from './keys/change.ts';
import { createKey } from './keys/create.ts';
import { showKeys } from './keys/list.ts';
import { endOtherSessions, endSession } from './sessions.ts';

export function settingsPages({ user }: PageRoutes): void {
  for (const { path, show, save } of SETTING_TABS) {
    user('GET', path, show);
    user('POST', path, save);
  }
  user('GET', '/settings/export', showExport);
  user('POST', '/settings/export', exportAccount);
  user('GET', '/settings/delete', showDeletion);
  user('POST', '/settings/delete', deleteAccount);
  user('POST', '/settings/sessions/end-others', endOtherSessions);
  user('POST', '/settings/sessions/:id/end', endSession);
  user('GET', '/settings/keys', showKeys);
  user('POST', '/settings/keys', createKey);
  user('GET', '/settings/keys/:id', showKeyName);
  user('POST', '/settings/keys/:id', renameKey);
  user('GET', '/settings/keys/:id/delete', showKeyDeletion);
  user('POST', '/settings/keys/:id/delete', deleteKey);
}
