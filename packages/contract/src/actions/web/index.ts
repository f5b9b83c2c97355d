import { type Static, Type } from '@sinclair/typebox';
import { SetUsageAlertInput } from '../../accounts/usage.ts';
import { ConfirmTaskInput, ProcessMessageInput } from '../../agent.ts';
import type { Language } from '../../primitives.ts';
import { Cursor, Id, pageLimit, strictObject, Uuid } from '../../primitives.ts';
import type { ActionError } from '../index.ts';
import { accountActions } from './account.ts';
import { adminActions } from './admin.ts';
import { userAction } from './define.ts';
import { channelActions } from './delivery/channels.ts';
import { webhookActions } from './delivery/webhooks.ts';
import { factorActions } from './factors.ts';
import { runActions } from './runs.ts';
import { settingsActions } from './settings.ts';
import { taskFormActions } from './task-form.ts';
import { taskListActions } from './task-list.ts';
import { taskPageActions } from './task-page.ts';

const alertActions = {
  listAlerts: userAction(strictObject({ taskId: Type.Optional(Id), cursor: Type.Optional(Cursor) })),
  acknowledgeAlert: userAction(strictObject({ id: Id })),
  /** Puts away a cause of the overview, until it changes or a run succeeds. */
  acknowledgeTasks: userAction(
    strictObject({ ids: Type.Array(Id, { minItems: 1, maxItems: 25 }), cause: Type.String({ maxLength: 100 }) }),
  ),
};

const homeActions = {
  getOverview: userAction(strictObject({})),
};

const notificationActions = {
  listNotifications: userAction(strictObject({ unread: Type.Boolean(), cursor: Type.Optional(Cursor) })),
  /** Mails another link to an address that is not confirmed. */
  requestConfirmation: userAction(strictObject({ email: Type.String({ maxLength: 320 }) })),
  readNotification: userAction(strictObject({ id: Id })),
  readAllNotifications: userAction(
    strictObject({ until: Type.Integer({ minimum: 1, description: 'The newest one that the person has seen' }) }),
  ),
};

const usageActions = {
  getUsageMonth: userAction(strictObject({ month: Type.Optional(Type.String({ maxLength: 20 })) })),
  /** Of a UTC day, by task and model. */
  getUsageDay: userAction(strictObject({ day: Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\d$' }) })),
  setUsageAlert: userAction(SetUsageAlertInput),
  deleteUsageAlert: userAction(strictObject({ id: Id })),
};

const FileId = strictObject({ id: Uuid });

const fileActions = {
  listFiles: userAction(strictObject({ limit: pageLimit(25), cursor: Type.Optional(Cursor) })),
  getFile: userAction(FileId),
  deleteFile: userAction(FileId),
};

const agentActions = {
  askAgent: userAction(ProcessMessageInput),
  /** NOT_FOUND once it has expired. No occurrences follow if its first run has passed. */
  getProposal: userAction(strictObject({ id: Uuid })),
  /** Creates the task. CONFLICT if it was created before. */
  confirmProposal: userAction(strictObject({ id: Uuid, changes: ConfirmTaskInput.properties.changes })),
};

/** Where an answer goes while it arrives. */
export interface AnswerStream {
  onText(text: string): void;
  /** Aborts when the browser is gone. */
  signal: AbortSignal;
}

/** What the actions of the dashboard take, in addition to those of the specification: one input each, with ids as numbers. */
export const WEB_ACTIONS = {
  ...accountActions,
  ...adminActions,
  ...agentActions,
  ...alertActions,
  ...channelActions,
  ...factorActions,
  ...fileActions,
  ...homeActions,
  ...runActions,
  ...settingsActions,
  ...taskFormActions,
  ...taskListActions,
  ...taskPageActions,
  ...webhookActions,
  ...notificationActions,
  ...usageActions,
};

export type WebActionName = keyof typeof WEB_ACTIONS;
export type WebActionInput<K extends WebActionName> = Static<(typeof WEB_ACTIONS)[K]['input']>;

declare const opened: unique symbol;

/** A session that `openSession` has found: the actions of one request do not look it up again. */
export interface OpenedSession {
  [opened]: true;
}

export interface Viewer {
  id: number;
  name: string;
  email: string;
  role: 'USER' | 'ADMIN';
  timezone: string | null;
  language: Language;
  sessionId: string;
  /** Whether the installation asks the account for a second factor that it does not have. */
  isFactorMissing: boolean;
  /** Notifications; at most 100. */
  unread: number;
  /** Of the latest 300 runs, those that have ended and were not seen yet. */
  unseenRuns: number;
  /** Whether a task, a webhook or a channel needs attention. */
  hasTrouble: boolean;
  /** The position of the event log before the page was read. */
  lastEventId: number;
}

/** The answer to a change in a session without a recent sign-in or password. */
export interface ConfirmationRequired {
  success: false;
  error: string;
  code: 'CONFIRMATION_REQUIRED';
}

export type WebActionError = ActionError | ConfirmationRequired;
