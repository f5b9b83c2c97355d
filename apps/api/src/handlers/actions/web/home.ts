import { getOverview } from '../../../product/system/stats/overview.ts';
import type { WebActionBuilder } from './create-web-action.ts';

export const homeActions = ({ signedIn }: WebActionBuilder) => ({
  getOverview: signedIn('getOverview', async ({ ctx, caller }, input) => getOverview(ctx, caller, input)),
});
