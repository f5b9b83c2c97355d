import { adminExamples } from './examples/admin.ts';
import { authExamples } from './examples/auth.ts';
import { couponsExamples } from './examples/coupons.ts';
import type { Example } from './examples/example.ts';
import { executionsExamples } from './examples/executions.ts';
import { tasksExamples } from './examples/tasks.ts';
import { uploadsExamples } from './examples/uploads.ts';
import { usageExamples } from './examples/usage.ts';
import { usersExamples } from './examples/users.ts';
import { webhooksExamples } from './examples/webhooks.ts';

export type { Example } from './examples/example.ts';

/** An example of each operation by its id. */
export const EXAMPLES: Record<string, Example> = {
  ...authExamples,
  ...usersExamples,
  ...tasksExamples,
  ...executionsExamples,
  ...uploadsExamples,
  ...webhooksExamples,
  ...usageExamples,
  ...couponsExamples,
  ...adminExamples,
};
