import type { Static } from '@sinclair/typebox';
import type { ACTION_INPUTS } from './actions/inputs.ts';
import type { ACTION_DATA, ActionError } from './actions/results.ts';

/** Specification "Server actions"; decisions §12: the in-process door, as a web client sees it. */

export { ACTION_INPUTS } from './actions/inputs.ts';
export { ACTION_DATA, ActionError } from './actions/results.ts';

/** The text that the `local-session` cookie or the bearer header carries; null where nobody is signed in. */
export type SessionToken = string | null;
/** What an action takes beside ids. */
export type ActionInput<K extends keyof typeof ACTION_INPUTS> = Static<(typeof ACTION_INPUTS)[K]>;
/** What an action gives. */
export type ActionData<K extends keyof typeof ACTION_DATA> = Static<(typeof ACTION_DATA)[K]>;
export type ActionSuccess<D> = { success: true; data: D };
export type ActionResult<K extends keyof Actions> = ActionSuccess<ActionData<K>> | ActionError;
type Answer<K extends keyof Actions> = Promise<ActionResult<K>>;

/**
 * The actions. None throws or rejects, whatever it is given: what goes wrong is an `ActionError`. Ids are strings,
 * states are upper case, instants are ISO 8601 in UTC with milliseconds.
 */
export interface Actions {
  /** Schedules a prompt by a cron expression in the time zone of the caller's profile, in UTC where it has none. */
  createTask(session: SessionToken, input: ActionInput<'createTask'>): Answer<'createTask'>;
  /** Changes what is given. Another `recurrence` takes the place of the schedule before, in the task's time zone. */
  updateTask(session: SessionToken, input: ActionInput<'updateTask'>): Answer<'updateTask'>;
  /** Deletes a task for good with its executions; what is pending is dropped. */
  deleteTask(session: SessionToken, id: string): Answer<'deleteTask'>;
  /** Pauses a task, or lets it go on with its next run in the future. */
  toggleTaskActive(session: SessionToken, id: string, active: boolean): Answer<'toggleTaskActive'>;
  /** Runs a task now, whatever its schedule and state. */
  executeTask(session: SessionToken, id: string): Answer<'executeTask'>;
  /** Copies a task: all that its owner has set, and nothing of what it has done. */
  duplicateTask(session: SessionToken, id: string, input?: ActionInput<'duplicateTask'>): Answer<'duplicateTask'>;
  /** The runs of the caller's tasks, newest first. */
  getExecutions(session: SessionToken, input?: ActionInput<'getExecutions'>): Answer<'getExecutions'>;
  /** One run with its task, its steps, and what it took. */
  getExecutionDetails(session: SessionToken, id: string): Answer<'getExecutionDetails'>;
  /** Runs the task of a failed execution again, unless a retry of it is to come or under way: then tells of that. */
  retryExecution(session: SessionToken, id: string): Answer<'retryExecution'>;
  updateProfile(session: SessionToken, input: ActionInput<'updateProfile'>): Answer<'updateProfile'>;
  /** Ends all other sessions of the account. */
  changePassword(session: SessionToken, input: ActionInput<'changePassword'>): Answer<'changePassword'>;
  updateSettings(session: SessionToken, input: ActionInput<'updateSettings'>): Answer<'updateSettings'>;
  /** Admins only. */
  getSystemStats(session: SessionToken): Answer<'getSystemStats'>;
  /** Admins only. The newest account first; pages count from 1. */
  listUsers(session: SessionToken, input?: ActionInput<'listUsers'>): Answer<'listUsers'>;
  /** Admins only. Another role ends the account's sessions; the last active admin stays one (CONFLICT). */
  updateUserRole(session: SessionToken, userId: string, role: 'USER' | 'ADMIN'): Answer<'updateUserRole'>;
  /** Admins only. */
  createCoupon(session: SessionToken, input: ActionInput<'createCoupon'>): Answer<'createCoupon'>;
  /** The secret is shown here, and never again. */
  createWebhook(session: SessionToken, input: ActionInput<'createWebhook'>): Answer<'createWebhook'>;
  /** Sends a test, once; `success` in the data tells what became of it. */
  testWebhook(session: SessionToken, id: string): Answer<'testWebhook'>;
}
