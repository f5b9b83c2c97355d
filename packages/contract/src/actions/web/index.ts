import type { Static } from '@sinclair/typebox';
import type { ActionError, ActionResult } from '../index.ts';
import type { ActionClient } from '../inputs.ts';
import { accountActions } from './account.ts';
import { adminActions } from './admin.ts';
import { agentActions } from './agent.ts';
import { alertActions } from './alerts.ts';
import type { InputOf, Plain, ServiceDataOf } from './define.ts';
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

/**
 * The actions of the dashboard, beside those of the specification: one input each, and data in the shapes of the HTTP API,
 * with ids as numbers.
 */
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
export type WebActionInput<K extends WebActionName> = InputOf<(typeof WEB_ACTIONS)[K]>;
/** With instants as texts. */
export type WebActionData<K extends WebActionName> = Plain<ServiceDataOf<(typeof WEB_ACTIONS)[K]>>;

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
type WebActionResult<K extends WebActionName> =
  | ActionResult<WebActionData<K>>
  | ((typeof WEB_ACTIONS)[K]['access'] extends 'admin' ? ConfirmationRequired : never);

type FirstArgument<K extends WebActionName> = (typeof WEB_ACTIONS)[K]['access'] extends 'guest'
  ? Static<typeof ActionClient>
  : OpenedSession | string | null;

export type WebActions = {
  [K in WebActionName]: (first: FirstArgument<K>, input: WebActionInput<K>) => Promise<WebActionResult<K>>;
} & {
  /** Finds the session of a token, and counts a view of a page. */
  openSession(
    token: string | null,
    client: Static<typeof ActionClient>,
  ): Promise<ActionResult<{ session: OpenedSession; viewer: Viewer }>>;
};
