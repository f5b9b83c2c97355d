import type { ActionInput, Actions } from '@carillon/api/actions';
import type { EventKind } from '@carillon/contract/events';
import { holds, type Plain, type Same } from '../support/contract/same.ts';

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
  holds<Same<Plain<ActionInput<'createTask'>>, Plain<TaskInput>>>();
  holds<Same<Plain<ActionInput<'updateTask'>>, Plain<Partial<TaskInput> & { id: string }>>>();
  holds<Same<ActionInput<'duplicateTask'>, { name?: string }>>();
  holds<
    Same<
      ActionInput<'getExecutions'>,
      { taskId?: string; status?: RunState; startDate?: string; endDate?: string; limit?: number; offset?: number }
    >
  >();
  holds<
    Same<
      ActionInput<'updateProfile'>,
      {
        name?: string;
        email?: string;
        timezone?: string | null;
        notificationPreferences?: { email?: boolean; webhook?: boolean };
      }
    >
  >();
  holds<Same<ActionInput<'changePassword'>, { currentPassword: string; newPassword: string }>>();
  holds<
    Same<
      ActionInput<'updateSettings'>,
      { modelRouterApiKey?: string | null; webhookUrl?: string | null; notificationEmails?: string[] }
    >
  >();
  holds<Same<ActionInput<'listUsers'>, { page?: number; limit?: number; search?: string; role?: 'USER' | 'ADMIN' }>>();
  holds<
    Same<
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

  holds<
    Same<
      ActionInput<'createWebhook'>,
      { url: string; events: EventKind[]; description?: string | null; secret?: string }
    >
  >();

  holds<Same<Arguments<'createTask'>, [session: Token, input: ActionInput<'createTask'>]>>();
  holds<Same<Arguments<'updateTask'>, [session: Token, input: ActionInput<'updateTask'>]>>();
  holds<Same<Arguments<'deleteTask'>, [session: Token, id: string]>>();
  holds<Same<Arguments<'toggleTaskActive'>, [session: Token, id: string, active: boolean]>>();
  holds<Same<Arguments<'executeTask'>, [session: Token, id: string]>>();
  holds<Same<Arguments<'duplicateTask'>, [session: Token, id: string, input?: { name?: string }]>>();
  holds<Same<Arguments<'getExecutions'>, [session: Token, input?: ActionInput<'getExecutions'>]>>();
  holds<Same<Arguments<'getExecutionDetails'>, [session: Token, id: string]>>();
  holds<Same<Arguments<'retryExecution'>, [session: Token, id: string]>>();
  holds<Same<Arguments<'updateProfile'>, [session: Token, input: ActionInput<'updateProfile'>]>>();
  holds<Same<Arguments<'changePassword'>, [session: Token, input: ActionInput<'changePassword'>]>>();
  holds<Same<Arguments<'updateSettings'>, [session: Token, input: ActionInput<'updateSettings'>]>>();
  holds<Same<Arguments<'getSystemStats'>, [session: Token]>>();
  holds<Same<Arguments<'listUsers'>, [session: Token, input?: ActionInput<'listUsers'>]>>();
  holds<Same<Arguments<'updateUserRole'>, [session: Token, userId: string, role: 'USER' | 'ADMIN']>>();
  holds<Same<Arguments<'createCoupon'>, [session: Token, input: ActionInput<'createCoupon'>]>>();
  holds<Same<Arguments<'createWebhook'>, [session: Token, input: ActionInput<'createWebhook'>]>>();
  holds<Same<Arguments<'testWebhook'>, [session: Token, id: string]>>();
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
