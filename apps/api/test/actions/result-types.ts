import type { ActionData, ActionError, Actions } from '@carillon/api/actions';
import type { EventKind } from '@carillon/contract/webhooks/events';
import { assertType, type Flatten, type IsSame } from '../support/contract/type-equality.ts';

// The types that a web client sees. Nothing here runs: if a schema says something else, this file does not compile.

type Task = {
  id: string;
  name: string;
  description: string | null;
  prompt: string;
  model: string;
  recurrence: string;
  active: boolean;
  status: 'active' | 'paused' | 'completed' | 'failed';
  webhookUrl: string | null;
  notificationEmail: string | null;
  nextExecutionAt: string | null;
  createdAt: string;
  updatedAt: string;
};
type RunState = 'PENDING' | 'RUNNING' | 'SUCCESS' | 'FAILED';
type Execution = {
  id: string;
  taskId: string;
  status: RunState;
  startedAt: string | null;
  completedAt: string | null;
  duration: number | null;
  result: string | null;
  error: string | null;
};

export function resultTypes(): void {
  assertType<IsSame<ActionData<'createTask'>, { id: string; name: string; createdAt: string }>>();
  assertType<IsSame<ActionData<'updateTask'>, Task>>();
  assertType<IsSame<ActionData<'toggleTaskActive'>, Task>>();
  assertType<IsSame<ActionData<'duplicateTask'>, Task>>();
  assertType<IsSame<ActionData<'skipNextRun'>, { skipped: string; task: Task }>>();
  assertType<IsSame<ActionData<'backfillTask'>, { queued: number }>>();
  assertType<IsSame<ActionData<'deleteTask' | 'changePassword'>, null>>();
  assertType<IsSame<ActionData<'executeTask'>, { executionId: string; status: 'PENDING'; startedAt: string }>>();
  assertType<
    IsSame<ActionData<'retryExecution'>, { executionId: string; status: 'PENDING' | 'RUNNING'; startedAt: string }>
  >();
  assertType<IsSame<ActionData<'cancelExecution'>, Execution>>();
  assertType<IsSame<ActionData<'getExecutions'>, { executions: Execution[]; total: number; hasMore: boolean }>>();
  assertType<
    IsSame<
      ActionData<'getExecutionDetails'>,
      Flatten<
        Execution & {
          task: { id: string; name: string; prompt: string; model: string };
          logs: { timestamp: string; message: string }[];
          metadata: {
            model: string;
            tokens: { prompt: number; completion: number; total: number };
            cost: number;
          };
        }
      >
    >
  >();
  assertType<
    IsSame<
      ActionData<'getSystemStats'>,
      {
        users: { total: number; active: number; new24h: number };
        tasks: { total: number; active: number; paused: number };
        executions: { last24h: number; success: number; failed: number; successRate: number };
      }
    >
  >();
  assertType<
    IsSame<
      ActionData<'updateProfile'>,
      {
        id: string;
        name: string;
        email: string;
        pendingEmail: string | null;
        timezone: string | null;
        notificationPreferences: { email: boolean; webhook: boolean };
        updatedAt: string;
      }
    >
  >();
  assertType<
    IsSame<
      ActionData<'updateSettings'>,
      {
        webhookUrl: string | null;
        webhookId: string | null;
        notificationEmails: string[];
        hasModelRouterApiKey: boolean;
      }
    >
  >();
  type Account = { id: string; role: 'USER' | 'ADMIN'; isActive: boolean; trialEndsAt: string | null };
  assertType<IsSame<ActionData<'updateUserRole'>, Flatten<Account & { updatedAt: string }>>>();
  type Listed = Flatten<
    Account & {
      identityUserId: string;
      email: string;
      name: string;
      createdAt: string;
      stats: { totalTasks: number; totalExecutions: number };
    }
  >;
  assertType<IsSame<ActionData<'listUsers'>, { users: Listed[]; total: number; page: number; pages: number }>>();
  assertType<
    IsSame<
      ActionData<'createCoupon'>,
      {
        id: string;
        code: string;
        type: string;
        value: number;
        isActive: boolean;
        maxUses: number | null;
        usedCount: number;
        expiresAt: string | null;
        createdByEmail: string;
        createdAt: string;
      }
    >
  >();
  assertType<
    IsSame<
      ActionData<'createWebhook'>,
      {
        id: string;
        userId: string;
        url: string;
        secret: string;
        events: EventKind[];
        isActive: boolean;
        createdAt: string;
      }
    >
  >();
  assertType<
    IsSame<
      ActionData<'testWebhook'>,
      {
        id: string;
        webhookId: string;
        event: EventKind;
        url: string;
        statusCode: number | null;
        responseTime: number;
        attempt: number;
        success: boolean;
        timestamp: string;
      }
    >
  >();
}

export function errorTypes(): void {
  type Answer = Awaited<ReturnType<Actions['executeTask']>>;
  assertType<IsSame<Answer, { success: true; data: ActionData<'executeTask'> } | ActionError>>();
  assertType<
    IsSame<
      ActionError['code'],
      | undefined
      | 'AUTH_REQUIRED'
      | 'INSUFFICIENT_PERMISSIONS'
      | 'RATE_LIMIT_EXCEEDED'
      | 'QUOTA_EXCEEDED'
      | 'INVALID_CREDENTIALS'
      | 'NOT_FOUND'
      | 'CONFLICT'
      | 'SERVICE_UNAVAILABLE'
      | 'INTERNAL_ERROR'
    >
  >();
  type Limited = Extract<ActionError, { code: 'RATE_LIMIT_EXCEEDED' }>;
  type WithoutFields = { success: false; error: 'Too many requests'; code: 'RATE_LIMIT_EXCEEDED'; retryAfter: number };
  assertType<IsSame<Limited, WithoutFields>>();
  assertType<IsSame<Extract<ActionError, { error: 'Validation error' }>['details'], Record<string, string[]>>>();
}

/** What a client must not be able to write. */
export async function misuse(actions: Actions): Promise<void> {
  const answer = await actions.executeTask(null, '1');
  // @ts-expect-error `success` has to be checked first
  answer.data;
  if (answer.success) {
    // @ts-expect-error instants are strings
    answer.data.startedAt.getTime();
  }
}
