/** The public types of `@carillon/api/actions`: they need no other package, and no TypeScript source of this one. */
import type { ActionError, ActionInputs, ActionResults } from './action-schemas.d.ts';

export type { ActionError, ActionInputs, ActionResults };

/** The token of the `local-session` cookie or the bearer header; null if the user is not signed in. */
export type SessionToken = string | null;

/** The client that a web client acts for: rate limits count by its address, and its sessions show both. */
export interface Client {
  /** The IP address. Take it from a proxy's header only if the proxy is yours. */
  address: string;
  userAgent?: string | undefined;
  /** The header `Accept-Language`: an account that is created for the client gets its language. */
  acceptLanguage?: string | undefined;
}

/** The input of an action, besides ids. */
export type ActionInput<K extends keyof ActionInputs> = ActionInputs[K];
/** The data of a successful action. */
export type ActionData<K extends keyof ActionResults> = ActionResults[K];
export interface ActionSuccess<D> {
  success: true;
  data: D;
}
export type ActionResult<K extends keyof Actions> = ActionSuccess<ActionData<K>> | ActionError;
type Result<K extends keyof Actions> = Promise<ActionResult<K>>;

/**
 * The server actions. They never throw or reject: failures are an `ActionError`. Ids are strings, statuses of executions
 * are upper case, instants are ISO 8601 in UTC with milliseconds.
 */
export interface Actions {
  /** Signs in. Counts towards the rate limits of `POST /api/auth/login`, by the client's address and the e-mail address. */
  login(client: Client, input: ActionInput<'login'>): Result<'login'>;
  /** Creates an account without a session. Counts towards the rate limit of `POST /api/auth/register`. */
  register(client: Client, input: ActionInput<'register'>): Result<'register'>;
  /** Ends the session. Clear the cookie with `serializeSession(null)`. */
  logout(session: SessionToken): Result<'logout'>;
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
  /** Skips the next planned run of a task; each call skips one more. */
  skipNextRun(session: SessionToken, id: string): Result<'skipNextRun'>;
  /** Queues a run for each planned instant of a past period that has had none. */
  backfillTask(session: SessionToken, id: string, input: ActionInput<'backfillTask'>): Result<'backfillTask'>;
  /** Copies a task with everything that its owner has set, without its executions. */
  duplicateTask(session: SessionToken, id: string, input?: ActionInput<'duplicateTask'>): Result<'duplicateTask'>;
  /** Lists the executions of the caller's tasks, newest first. */
  getExecutions(session: SessionToken, input?: ActionInput<'getExecutions'>): Result<'getExecutions'>;
  /** Returns an execution with its task, its steps, its tokens and its cost. */
  getExecutionDetails(session: SessionToken, id: string): Result<'getExecutionDetails'>;
  /** Retries a failed execution; returns the retry that is already scheduled or running, if any. */
  retryExecution(session: SessionToken, id: string): Result<'retryExecution'>;
  /** Ends a pending or running execution; returns it as it ended. */
  cancelExecution(session: SessionToken, id: string): Result<'cancelExecution'>;
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

export interface OpenedActions {
  actions: Actions;
  /** The `Set-Cookie` header of a session: HttpOnly, SameSite=Lax, 7 days, and Secure unless `COOKIE_SECURE` is false. Null clears the cookie. */
  serializeSession(session: SessionToken): string;
  /** Call it when the process ends. Then every action is SERVICE_UNAVAILABLE. */
  close(): Promise<void>;
}

/**
 * Opens the actions once for a process, with the settings of the API processes, such as `process.env`. Rejects with one
 * line about each setting that is missing or invalid.
 */
export declare function openActions(env: Readonly<Record<string, string | undefined>>): Promise<OpenedActions>;

/** The session in a `Cookie` header; null if there is none, or several. */
export declare function readSession(cookieHeader: string | null | undefined): SessionToken;

/** Returns the data of a result, or throws an `ActionFailure`. */
export declare function unwrap<D>(result: ActionSuccess<D> | ActionError): D;

export type ActionErrorCode = NonNullable<ActionError['code']> | 'VALIDATION_ERROR';

/** What `unwrap` throws. */
export declare class ActionFailure extends Error {
  readonly name: 'ActionFailure';
  /** `VALIDATION_ERROR` for a validation error, which has no code in the result. */
  readonly code: ActionErrorCode;
  /** The whole result. */
  readonly result: ActionError;
  constructor(result: ActionError);
}
