import { getTexts } from '@carillon/texts';
import { getSettings } from '../../../platform/settings.ts';
import { changeClient, listClients } from '../../../product/auth/oauth-server/apps.ts';
import { listProviders } from '../../../product/executions/request/providers/read.ts';
import { testProvider } from '../../../product/executions/request/providers/test-call.ts';
import { changeProvider, createProvider, deleteProvider } from '../../../product/executions/request/providers/write.ts';
import { browseAudit } from '../../../product/system/audit.ts';
import { findProblems } from '../../../product/system/checks/find-problems.ts';
import { changeSecurity, changeSettings } from '../../../product/system/settings.ts';
import { createSystemOverview } from '../../../product/system/stats/system-overview.ts';
import { deleteAccount } from '../../../product/users/admin/delete.ts';
import { describeAccount } from '../../../product/users/admin/describe.ts';
import { listUsers } from '../../../product/users/admin/read.ts';
import { changeAccount } from '../../../product/users/admin/write.ts';
import { getCouponWithUses, listCoupons } from '../../../product/users/coupons/read.ts';
import { changeCoupon, createCoupon, deleteCoupon } from '../../../product/users/coupons/write.ts';
import { inTransaction } from '../../../transaction.ts';
import type { WebActionBuilder } from './create-web-action.ts';

export const adminActions = ({ signedIn }: WebActionBuilder) => {
  const getOverview = createSystemOverview();
  return {
    getServiceOverview: signedIn('getServiceOverview', async ({ ctx }) => getOverview(ctx)),

    checkInstallation: signedIn('checkInstallation', async ({ ctx, caller }, { services }) => ({
      findings: await findProblems(ctx, services, getTexts(caller.language).doctor),
    })),

    listAccounts: signedIn('listAccounts', async ({ ctx }, query) => listUsers(ctx, query)),
    getAccount: signedIn('getAccount', async ({ ctx }, { id }) => describeAccount(ctx, id)),
    changeAccount: signedIn(
      'changeAccount',
      async ({ ctx, caller }, { id, ...changes }) => changeAccount(ctx, caller, id, changes),
      { as: 'PATCH /api/admin/users/*' },
    ),
    removeAccount: signedIn('removeAccount', async ({ ctx, caller }, { id, email }) => {
      await deleteAccount(ctx, caller, id, { email });
      return null;
    }),

    listCoupons: signedIn('listCoupons', async ({ ctx }, query) => listCoupons(ctx, query)),
    getCoupon: signedIn('getCoupon', async ({ ctx }, { id, ...page }) => getCouponWithUses(ctx, id, page)),
    createCoupon: signedIn('createCoupon', async ({ ctx, caller }, input) => createCoupon(ctx, caller, input), {
      as: 'POST /api/admin/coupons',
    }),
    changeCoupon: signedIn('changeCoupon', async ({ ctx, caller }, { id, ...changes }) =>
      changeCoupon(ctx, caller, id, changes),
    ),
    deleteCoupon: signedIn('deleteCoupon', async ({ ctx, caller }, { id }) => {
      await deleteCoupon(ctx, caller, id);
      return null;
    }),

    getSystemSettings: signedIn('getSystemSettings', async ({ ctx }) => getSettings(ctx)),
    changeSystemSettings: signedIn('changeSystemSettings', async ({ ctx, caller }, input) =>
      changeSettings(ctx, caller, input),
    ),

    changeSecurity: signedIn('changeSecurity', async ({ ctx, caller }, input) => changeSecurity(ctx, caller, input)),

    listClients: signedIn('listClients', async ({ ctx }, query) => listClients(ctx, query)),
    changeClient: signedIn('changeClient', async ({ ctx, caller }, input) => changeClient(ctx, caller, input)),

    listProviders: signedIn('listProviders', async ({ ctx }) => {
      const [providers, { hasDefault }] = await Promise.all([listProviders(ctx), ctx.providers.load()]);
      return { providers, hasDefault };
    }),
    createProvider: signedIn('createProvider', async ({ ctx, caller }, { modelOfNewTasks, ...input }) =>
      inTransaction(ctx, async (tx) => {
        const provider = await createProvider(tx, caller, input);
        const defaultModel = modelOfNewTasks && `${provider.name}/${modelOfNewTasks}`;
        if (defaultModel) await changeSettings(tx, caller, { defaultModel });
        return provider;
      }),
    ),
    changeProvider: signedIn('changeProvider', async ({ ctx, caller }, { id, ...changes }) =>
      changeProvider(ctx, caller, id, changes),
    ),
    deleteProvider: signedIn('deleteProvider', async ({ ctx, caller }, { id }) => {
      await deleteProvider(ctx, caller, id);
      return null;
    }),
    testProvider: signedIn('testProvider', async ({ ctx }, input) => testProvider(ctx, input)),

    listAudit: signedIn('listAudit', async ({ ctx }, query) => browseAudit(ctx, query)),
  };
};
