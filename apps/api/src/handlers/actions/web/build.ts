import type { WebActionInput, WebActionName } from '@carillon/contract/actions/web/index';
import type { Context } from '../../../context.ts';
import { acknowledgeAlert, acknowledgeTasks } from '../../../product/notifications/alerts/acknowledge.ts';
import { listAlerts } from '../../../product/notifications/alerts/read.ts';
import { getOverview } from '../../../product/system/stats/overview.ts';
import { listCallsOfDay } from '../../../product/usage/day.ts';
import { getUsageMonth } from '../../../product/usage/month.ts';
import { deleteUsageAlert, setUsageAlert } from '../../../product/usage/write.ts';
import { accountActions } from './account.ts';
import { adminActions } from './admin.ts';
import { agentActions } from './agent.ts';
import { createWebActionBuilder, type WebActionBuilder } from './create-web-action.ts';
import { channelActions } from './delivery/channels.ts';
import { webhookActions } from './delivery/webhooks.ts';
import { factorActions } from './factors.ts';
import { fileActions } from './files.ts';
import { notificationActions } from './notifications.ts';
import { runActions } from './runs.ts';
import { settingsActions } from './settings.ts';
import { taskFormActions } from './tasks/form.ts';
import { taskListActions } from './tasks/list.ts';
import { taskPageActions } from './tasks/page.ts';

const PAGE = 25;

const alertActions = ({ signedIn }: WebActionBuilder) => ({
  listAlerts: signedIn('listAlerts', async ({ ctx, caller }, query) => {
    const { alerts, pagination } = await listAlerts(ctx, caller, { ...query, limit: PAGE });
    return { alerts, nextCursor: pagination.nextCursor };
  }),
  acknowledgeAlert: signedIn('acknowledgeAlert', async ({ ctx, caller }, { id }) => {
    await acknowledgeAlert(ctx, caller, id);
    return null;
  }),
  acknowledgeTasks: signedIn('acknowledgeTasks', async ({ ctx, caller }, { ids, cause }) => ({
    acknowledged: await acknowledgeTasks(ctx, caller, ids, cause),
  })),
});

const homeActions = ({ signedIn }: WebActionBuilder) => ({
  getOverview: signedIn('getOverview', async ({ ctx, caller }) => getOverview(ctx, caller)),
});

const usageActions = ({ signedIn }: WebActionBuilder) => ({
  getUsageMonth: signedIn('getUsageMonth', async ({ ctx, caller }, { month }) => getUsageMonth(ctx, caller, month)),
  getUsageDay: signedIn('getUsageDay', async ({ ctx, caller }, { day }) => ({
    calls: await listCallsOfDay(ctx, caller, day),
  })),
  setUsageAlert: signedIn('setUsageAlert', async ({ ctx, caller }, input) => setUsageAlert(ctx, caller, input)),
  deleteUsageAlert: signedIn('deleteUsageAlert', async ({ ctx, caller }, { id }) => {
    await deleteUsageAlert(ctx, caller, id);
    return null;
  }),
});

/** The actions of the dashboard. They never throw or reject. */
export function buildWebActions(ctx: Context) {
  const builder = createWebActionBuilder(ctx);
  return {
    openSession: builder.openSession,
    ...accountActions(builder),
    ...adminActions(builder),
    ...agentActions(builder),
    ...alertActions(builder),
    ...channelActions(builder),
    ...factorActions(builder),
    ...fileActions(builder),
    ...homeActions(builder),
    ...settingsActions(builder),
    ...runActions(builder),
    ...taskFormActions(builder),
    ...taskListActions(builder),
    ...taskPageActions(builder),
    ...webhookActions(builder),
    ...notificationActions(builder),
    ...usageActions(builder),
  } satisfies Pick<WebActionBuilder, 'openSession'> & {
    [K in WebActionName]: (first: never, input: WebActionInput<K>) => Promise<unknown>;
  };
}

export type WebActions = ReturnType<typeof buildWebActions>;
/** What a successful action returns, with instants as texts. */
export type WebActionData<K extends WebActionName> = Extract<
  Awaited<ReturnType<WebActions[K]>>,
  { success: true }
>['data'];
