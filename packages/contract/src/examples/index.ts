import { adminExamples } from './admin.ts';
import { alertsExamples } from './alerts.ts';
import { apiKeysExamples } from './api-keys.ts';
import { appsExamples } from './apps.ts';
import { authExamples } from './auth.ts';
import { channelsExamples } from './channels/channels.ts';
import { feedsExamples } from './channels/feeds.ts';
import { couponsExamples } from './coupons.ts';
import { eventLogExamples } from './event-log.ts';
import type { Example } from './example.ts';
import { executionsExamples } from './executions.ts';
import { factorsExamples } from './factors.ts';
import { secretsExamples } from './secrets.ts';
import { tasksExamples } from './tasks.ts';
import { uploadsExamples } from './uploads.ts';
import { usageExamples } from './usage.ts';
import { usersExamples } from './users.ts';
import { webhooksExamples } from './webhooks.ts';

export type { Example } from './example.ts';

/** An example of each operation by its id. */
export const EXAMPLES: Record<string, Example> = {
  ...authExamples,
  ...factorsExamples,
  ...apiKeysExamples,
  ...secretsExamples,
  ...appsExamples,
  ...usersExamples,
  ...tasksExamples,
  ...executionsExamples,
  ...alertsExamples,
  ...uploadsExamples,
  ...webhooksExamples,
  ...channelsExamples,
  ...feedsExamples,
  ...eventLogExamples,
  ...usageExamples,
  ...couponsExamples,
  ...adminExamples,
};
