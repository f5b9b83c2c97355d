import * as contract from '@carillon/contract/user-settings';
import { type Routes, success } from '../http/validation.ts';
import { changeSettings, getSettings } from './settings.ts';

/** What an account has set for itself: specification "Server actions", `updateSettings`. */
export const userSettingsRoutes: Routes = async (app) => {
  const config = { access: 'user' } as const;

  app.get('/api/user/settings', { schema: contract.getUserSettings, config }, async ({ ctx, caller }) => ({
    success,
    settings: await getSettings(ctx, caller),
  }));

  app.patch('/api/user/settings', { schema: contract.changeUserSettings, config }, async ({ ctx, caller, body }) => ({
    success,
    settings: await changeSettings(ctx, caller, body),
  }));
};
