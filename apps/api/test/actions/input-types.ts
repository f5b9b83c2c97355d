import type { ActionInput, Actions } from '@carillon/api/actions';
import type { EventKind } from '@carillon/contract/webhooks/events';
import { assertType, type Flatten, type IsSame } from '../support/contract/type-equality.ts';

// The types that a web client sees. Nothing here runs: if a schema says something else, this file does not compile.

type Arguments<K extends keyof Actions> = Parameters<Actions[K]>;
type Token = string | null;

interface TaskInput {
  name: string;
  description?: string | null;
  prompt: string;
  model: string;
  recurrence: string;
  active?: boolean;
  webhookUrl?: string | null;
  notificationEmail?: string | null;
}
type RunState = 'PENDING' | 'RUNNING' | 'SUCCESS' | 'FAILED';

export function inputTypes(): void {
  assertType<IsSame<Flatten<ActionInput<'createTask'>>, Flatten<TaskInput>>>();
  assertType<IsSame<Flatten<ActionInput<'updateTask'>>, Flatten<Partial<TaskInput> & { id: string }>>>();
  assertType<IsSame<ActionInput<'duplicateTask'>, { name?: string }>>();
  assertType<IsSame<ActionInput<'backfillTask'>, { from: string; to: string }>>();
  assertType<
    IsSame<
      ActionInput<'getExecutions'>,
      { taskId?: string; status?: RunState; startDate?: string; endDate?: string; limit?: number; offset?: number }
    >
  >();
  assertType<
    IsSame<
      ActionInput<'updateProfile'>,
      {
        name?: string;
        email?: string;
        timezone?: string | null;
        notificationPreferences?: { email?: boolean; webhook?: boolean };
      }
    >
  >();
  assertType<IsSame<ActionInput<'changePassword'>, { currentPassword: string; newPassword: string }>>();
  assertType<
    IsSame<
      ActionInput<'updateSettings'>,
      { modelRouterApiKey?: string | null; webhookUrl?: string | null; notificationEmails?: string[] }
    >
  >();
  assertType<
    IsSame<ActionInput<'listUsers'>, { page?: number; limit?: number; search?: string; role?: 'USER' | 'ADMIN' }>
  >();
  assertType<
    IsSame<
      ActionInput<'createCoupon'>,
      {
        code?: string;
        maxUses?: number | null;
        expiresAt?: string | null;
        type?: 'TRIAL_EXTENSION';
        value?: number;
      }
    >
  >();

  assertType<
    IsSame<
      ActionInput<'createWebhook'>,
      { url: string; events: EventKind[]; description?: string | null; secret?: string }
    >
  >();

  assertType<IsSame<Arguments<'createTask'>, [session: Token, input: ActionInput<'createTask'>]>>();
  assertType<IsSame<Arguments<'updateTask'>, [session: Token, input: ActionInput<'updateTask'>]>>();
  assertType<IsSame<Arguments<'deleteTask'>, [session: Token, id: string]>>();
  assertType<IsSame<Arguments<'toggleTaskActive'>, [session: Token, id: string, active: boolean]>>();
  assertType<IsSame<Arguments<'executeTask'>, [session: Token, id: string]>>();
  assertType<IsSame<Arguments<'skipNextRun'>, [session: Token, id: string]>>();
  assertType<IsSame<Arguments<'backfillTask'>, [session: Token, id: string, input: { from: string; to: string }]>>();
  assertType<IsSame<Arguments<'duplicateTask'>, [session: Token, id: string, input?: { name?: string }]>>();
  assertType<IsSame<Arguments<'getExecutions'>, [session: Token, input?: ActionInput<'getExecutions'>]>>();
  assertType<IsSame<Arguments<'getExecutionDetails'>, [session: Token, id: string]>>();
  assertType<IsSame<Arguments<'retryExecution'>, [session: Token, id: string]>>();
  assertType<IsSame<Arguments<'cancelExecution'>, [session: Token, id: string]>>();
  assertType<IsSame<Arguments<'updateProfile'>, [session: Token, input: ActionInput<'updateProfile'>]>>();
  assertType<IsSame<Arguments<'changePassword'>, [session: Token, input: ActionInput<'changePassword'>]>>();
  assertType<IsSame<Arguments<'updateSettings'>, [session: Token, input: ActionInput<'updateSettings'>]>>();
  assertType<IsSame<Arguments<'getSystemStats'>, [session: Token]>>();
  assertType<IsSame<Arguments<'listUsers'>, [session: Token, input?: ActionInput<'listUsers'>]>>();
  assertType<IsSame<Arguments<'updateUserRole'>, [session: Token, userId: string, role: 'USER' | 'ADMIN']>>();
  assertType<IsSame<Arguments<'createCoupon'>, [session: Token, input: ActionInput<'createCoupon'>]>>();
  assertType<IsSame<Arguments<'createWebhook'>, [session: Token, input: ActionInput<'createWebhook'>]>>();
  assertType<IsSame<Arguments<'testWebhook'>, [session: Token, id: string]>>();
}

/** What a client must not be able to write. */
export async function misuse(actions: Actions): Promise<void> {
  // @ts-expect-error an id is a string
  await actions.deleteTask(null, 7);
  // @ts-expect-error the session is the first argument: it can be null, but not left out
  await actions.getSystemStats();
  // @ts-expect-error a prompt is required
  await actions.createTask(null, { name: 'News', model: 'm', recurrence: '0 9 * * *' });
  // @ts-expect-error no field of that name
  await actions.updateTask(null, { id: '1', status: 'paused' });
  // @ts-expect-error statuses are upper case
  await actions.getExecutions(null, { status: 'completed' });
  // @ts-expect-error there are two roles
  await actions.updateUserRole(null, '1', 'KING');
}
