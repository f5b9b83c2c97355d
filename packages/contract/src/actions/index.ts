import type { Static } from '@sinclair/typebox';
import type { ACTION_INPUTS } from './inputs.ts';
import type { ACTION_DATA, ActionError } from './results.ts';

export { ACTION_INPUTS } from './inputs.ts';
export { ACTION_DATA, ActionError } from './results.ts';

/** The token of the `local-session` cookie or the bearer header; null if the user is not signed in. */
export type SessionToken = string | null;
/** The input of an action, besides ids. */
export type ActionInput<K extends keyof typeof ACTION_INPUTS> = Static<(typeof ACTION_INPUTS)[K]>;
/** The data of a successful action. */
export type ActionData<K extends keyof typeof ACTION_DATA> = Static<(typeof ACTION_DATA)[K]>;
export type ActionSuccess<D> = { success: true; data: D };
export type ActionResult<K extends keyof Actions> = ActionSuccess<ActionData<K>> | ActionError;
type Result<K extends keyof Actions> = Promise<ActionResult<K>>;

/**
 * The server actions. They never throw or reject: failures are an `ActionError`. Ids are strings, statuses are upper
 * case, instants are ISO 8601 in UTC with milliseconds.
 */
export interface Actions {
  /** Schedules a prompt by a cron expression, in the time zone of the caller's profile or in UTC. */
  createTask(session: SessionToken, input: ActionInput<'createTask'>): Result<'createTask'>;
  /** Changes the given fields. A new `recurrence` replaces the schedule, in the task's time zone. */
  updateTask(session: SessionToken, input: ActionInput<'updateTask'>): Result<'updateTask'>;
  /** Deletes a task with its executions; pending ones are dropped. */
  deleteTask(session: SessionToken, id: string): Result<'deleteTask'>;
  /** Pauses a task, or resumes it with its next future run. */
  toggleTaskActive(session: SessionToken, id: string, active: boolean): Result<'toggleTaskActive'>;
  /** Runs a task now, regardless of its schedule and status. */
  executeTask(session: SessionToken, id: string): Result<'executeTask'>;
  /** Copies a task with everything that its owner has set, without its executions. */
  duplicateTask(session: SessionToken, id: string, input?: ActionInput<'duplicateTask'>): Result<'duplicateTask'>;
  /** Lists the executions of the caller's tasks, newest first. */
  getExecutions(session: SessionToken, input?: ActionInput<'getExecutions'>): Result<'getExecutions'>;
  /** Returns an execution with its task, its steps, its tokens and its cost. */
  getExecutionDetails(session: SessionToken, id: string): Result<'getExecutionDetails'>;
  /** Retries a failed execution; returns the retry that is already scheduled or running, if any. */
  retryExecution(session: SessionToken, id: string): Result<'retryExecution'>;
  /** Another `email` is `pendingEmail` until a link mailed to the present address and one to the new one are opened. */
  updateProfile(session: SessionToken, input: ActionInput<'updateProfile'>): Result<'updateProfile'>;
  /** Ends all other sessions of the account. */
  changePassword(session: SessionToken, input: ActionInput<'changePassword'>): Result<'changePassword'>;
  updateSettings(session: SessionToken, input: ActionInput<'updateSettings'>): Result<'updateSettings'>;
  /** Admins only. */
  getSystemStats(session: SessionToken): Result<'getSystemStats'>;
  /** Admins only. Newest account first; pages start at 1. */
  listUsers(session: SessionToken, input?: ActionInput<'listUsers'>): Result<'listUsers'>;
  /** Admins only. A new role ends the account's sessions; CONFLICT for the last active admin. */
  updateUserRole(session: SessionToken, userId: string, role: 'USER' | 'ADMIN'): Result<'updateUserRole'>;
  /** Admins only. */
  createCoupon(session: SessionToken, input: ActionInput<'createCoupon'>): Result<'createCoupon'>;
  /** The secret is only returned here. */
  createWebhook(session: SessionToken, input: ActionInput<'createWebhook'>): Result<'createWebhook'>;
  /** Sends a test delivery; `success` in the data is its outcome. */
  testWebhook(session: SessionToken, id: string): Result<'testWebhook'>;
}
