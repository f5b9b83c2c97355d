import type { PageRoutes } from '../../http/routes.ts';
import { SETTING_TABS } from './account.ts';
import { deleteAccount, showDeletion } from './delete-account.ts';
import { exportAccount, showExport } from './export.ts';
import { deleteKey, renameKey, showKeyDeletion, showKeyName } from './keys/change.ts';
import { createKey } from './keys/create.ts';
import { showKeys } from './keys/list.ts';
import {
  confirmTotp,
  createPasskey,
  createTotp,
  deleteFactor,
  replaceCodes,
  showFactorDeletion,
  showTotp,
} from './second-factor/change.ts';
import { confirm, showConfirm } from './second-factor/confirm.ts';
import { LIST, showFactors } from './second-factor/list.ts';
import { createSecret, deleteSecret, SECRETS, showSecretDeletion, showSecrets } from './secrets.ts';
import { endOtherSessions, endSession } from './sessions.ts';
import { downloadTasks, importTasks, showTaskFiles, TASK_FILES } from './task-files.ts';

export function settingsPages({ user }: PageRoutes): void {
  for (const { path, show, save } of SETTING_TABS) {
    user('GET', path, show);
    user('POST', path, save);
  }
  user('GET', TASK_FILES, showTaskFiles);
  user('POST', TASK_FILES, importTasks);
  user('GET', `${TASK_FILES}/tasks.yaml`, downloadTasks);
  user('GET', '/settings/export', showExport);
  user('POST', '/settings/export', exportAccount);
  user('GET', '/settings/delete', showDeletion);
  user('POST', '/settings/delete', deleteAccount);
  user('POST', '/settings/sessions/end-others', endOtherSessions);
  user('POST', '/settings/sessions/:id/end', endSession);
  user('GET', '/settings/confirm', showConfirm);
  user('POST', '/settings/confirm', confirm);
  user('GET', LIST, showFactors);
  user('POST', `${LIST}/totp`, createTotp);
  user('GET', `${LIST}/totp/:id`, showTotp);
  user('POST', `${LIST}/totp/:id`, confirmTotp);
  user('POST', `${LIST}/passkey`, createPasskey);
  user('POST', `${LIST}/recovery-codes`, replaceCodes);
  user('GET', `${LIST}/:id/delete`, showFactorDeletion);
  user('POST', `${LIST}/:id/delete`, deleteFactor);
  user('GET', '/settings/keys', showKeys);
  user('POST', '/settings/keys', createKey);
  user('GET', '/settings/keys/:id', showKeyName);
  user('POST', '/settings/keys/:id', renameKey);
  user('GET', '/settings/keys/:id/delete', showKeyDeletion);
  user('POST', '/settings/keys/:id/delete', deleteKey);
  user('GET', SECRETS, showSecrets);
  user('POST', SECRETS, createSecret);
  user('GET', `${SECRETS}/:id/delete`, showSecretDeletion);
  user('POST', `${SECRETS}/:id/delete`, deleteSecret);
}
