import type { Static } from '@sinclair/typebox';
import type { ActionError } from '../index.ts';
import { accountActions } from './account.ts';
import { adminActions } from './admin.ts';
import { agentActions } from './agent.ts';
import { alertActions } from './alerts.ts';
import { channelActions } from './delivery/channels.ts';
import { webhookActions } from './delivery/webhooks.ts';
import { fileActions } from './files.ts';
import { homeActions } from './home.ts';
import { notificationActions } from './notifications.ts';
import { runActions } from './runs.ts';
import { settingsActions } from './settings.ts';
import { taskFormActions } from './task-form.ts';
import { taskListActions } from './task-list.ts';
import { taskPageActions } from './task-page.ts';
import { usageActions } from './usage.ts';

/** What the actions of the dashboard take, beside those of the specification: one input each, with ids as numbers. */
export const WEB_ACTIONS = {
  ...accountActions,
  ...adminActions,
  ...agentActions,
  ...alertActions,
  ...channelActions,
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
  sessionId: string;
  /** Notifications; at most 100. */
  unread: number;
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
