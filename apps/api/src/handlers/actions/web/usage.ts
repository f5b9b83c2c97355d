import { getUsageMonth } from '../../../product/usage/month.ts';
import { deleteUsageAlert, setUsageAlert } from '../../../product/usage/write.ts';
import type { WebActionBuilder } from './create-web-action.ts';

export const usageActions = ({ signedIn }: WebActionBuilder) => ({
  getUsageMonth: signedIn('getUsageMonth', async ({ ctx, caller }, { month }) => getUsageMonth(ctx, caller, month)),
  setUsageAlert: signedIn('setUsageAlert', async ({ ctx, caller }, input) => setUsageAlert(ctx, caller, input)),
  deleteUsageAlert: signedIn('deleteUsageAlert', async ({ ctx, caller }, { id }) => {
    await deleteUsageAlert(ctx, caller, id);
    return null;
  }),
});
