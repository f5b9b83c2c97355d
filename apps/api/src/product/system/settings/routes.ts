import * as contract from '@carillon/contract/admin/settings';
import { type Routes, success } from '../../../platform/http/validation.ts';
import { getSettings } from '../../../platform/settings.ts';
import { changeSettings } from './write.ts';

export const settingsRoutes: Routes = async (app) => {
  const config = { access: 'admin', scope: 'admin' } as const;

  app.get('/api/admin/settings', { schema: contract.getSettings, config }, async ({ ctx }) => ({
    success,
    settings: await getSettings(ctx),
  }));

  app.patch('/api/admin/settings', { schema: contract.changeSettings, config }, async ({ ctx, caller, body }) => {
    const after = await changeSettings(ctx, caller, body);
    const given = Object.fromEntries(Object.entries(after).filter(([name]) => name in body));
    return { success, settings: { ...given, updatedAt: after.updatedAt } };
  });
};
