// Generated from the OpenAPI document by `pnpm docs:generate`. Do not edit.
import type { ChangeOptions, PostOptions, RequestOptions, Settings } from '../options.ts';
import type { Pages } from '../pages.ts';
import { segment } from '../request.ts';
import { type AnswerOf, type BodyOf, type QueryOf, Resource, type UploadOptions, withToken } from '../resource.ts';
import type { ResponsePromise } from '../response-promise.ts';

export class Auth extends Resource {
  /** Register an account: POST /api/auth/register */
  register(body: BodyOf<'register'>, options?: RequestOptions): ResponsePromise<AnswerOf<'register'>> {
    return this.send('POST', '/api/auth/register', { body, options });
  }

  /** Sign in: POST /api/auth/login */
  login(body: BodyOf<'login'>, options?: RequestOptions): ResponsePromise<AnswerOf<'login'>> {
    return this.send('POST', '/api/auth/login', { body, options: withToken(options) });
  }

  /** Sign out: POST /api/auth/logout */
  logout(options?: PostOptions): ResponsePromise<AnswerOf<'logout'>> {
    return this.send('POST', '/api/auth/logout', { options, takesKey: true });
  }

  /** Get the current session: GET /api/auth/session */
  session(options?: RequestOptions): ResponsePromise<AnswerOf<'getSession'>> {
    return this.send('GET', '/api/auth/session', { options });
  }

  /** Confirm the session: POST /api/auth/confirm */
  confirm(body: BodyOf<'confirmSession'>, options?: PostOptions): ResponsePromise<AnswerOf<'confirmSession'>> {
    return this.send('POST', '/api/auth/confirm', { body, options, takesKey: true });
  }

  /** List sessions: GET /api/auth/sessions */
  sessions(options?: RequestOptions): ResponsePromise<AnswerOf<'listSessions'>> {
    return this.send('GET', '/api/auth/sessions', { options });
  }

  /** End a session: DELETE /api/auth/sessions/{id} */
  endSession(id: string, options?: RequestOptions): ResponsePromise<AnswerOf<'endSession'>> {
    return this.send('DELETE', `/api/auth/sessions/${segment(id)}`, { options });
  }

  /** Sign in with the second factor: POST /api/auth/second-factor */
  secondFactor(body: BodyOf<'answerTicket'>, options?: RequestOptions): ResponsePromise<AnswerOf<'answerTicket'>> {
    return this.send('POST', '/api/auth/second-factor', { body, options: withToken(options) });
  }
}

export class User extends Resource {
  /** List second factors: GET /api/user/factors */
  factors(options?: RequestOptions): ResponsePromise<AnswerOf<'listFactors'>> {
    return this.send('GET', '/api/user/factors', { options });
  }

  /** Add an authenticator app: POST /api/user/factors/totp */
  createTotp(body: BodyOf<'createTotp'>, options?: PostOptions): ResponsePromise<AnswerOf<'createTotp'>> {
    return this.send('POST', '/api/user/factors/totp', { body, options, takesKey: true });
  }

  /** Confirm an authenticator app: POST /api/user/factors/{id}/confirm */
  confirmTotp(id: string, body: BodyOf<'confirmTotp'>, options?: PostOptions): ResponsePromise<AnswerOf<'confirmTotp'>> {
    return this.send('POST', `/api/user/factors/${segment(id)}/confirm`, { body, options, takesKey: true });
  }

  /** Delete a second factor: DELETE /api/user/factors/{id} */
  deleteFactor(id: string, options?: RequestOptions): ResponsePromise<AnswerOf<'deleteFactor'>> {
    return this.send('DELETE', `/api/user/factors/${segment(id)}`, { options });
  }

  /** Replace the recovery codes: POST /api/user/recovery-codes */
  createRecoveryCodes(options?: PostOptions): ResponsePromise<AnswerOf<'createRecoveryCodes'>> {
    return this.send('POST', '/api/user/recovery-codes', { options, takesKey: true });
  }

  /** List connected apps: GET /api/user/apps */
  apps(query?: QueryOf<'listApps'>, options?: RequestOptions): Pages<AnswerOf<'listApps'>, 'apps'> {
    return this.pages('/api/user/apps', 'apps', { query, options });
  }

  /** Disconnect an app: DELETE /api/user/apps/{id} */
  disconnectApp(id: string, options?: RequestOptions): ResponsePromise<AnswerOf<'disconnectApp'>> {
    return this.send('DELETE', `/api/user/apps/${segment(id)}`, { options });
  }

  /** Get the current user: GET /api/user */
  get(options?: RequestOptions): ResponsePromise<AnswerOf<'getUser'>> {
    return this.send('GET', '/api/user', { options });
  }

  /** Change the current user: PATCH /api/user */
  update(body: BodyOf<'patchUser'>, options?: ChangeOptions): ResponsePromise<AnswerOf<'patchUser'>> {
    return this.send('PATCH', '/api/user', { body, options });
  }

  /** Delete the current user: DELETE /api/user */
  delete(body: BodyOf<'deleteUser'>, options?: ChangeOptions): ResponsePromise<AnswerOf<'deleteUser'>> {
    return this.send('DELETE', '/api/user', { body, options });
  }

  /** Change the password: POST /api/user/password */
  changePassword(body: BodyOf<'changePassword'>, options?: PostOptions): ResponsePromise<AnswerOf<'changePassword'>> {
    return this.send('POST', '/api/user/password', { body, options, takesKey: true });
  }

  /** Get user settings: GET /api/user/settings */
  settings(options?: RequestOptions): ResponsePromise<AnswerOf<'getUserSettings'>> {
    return this.send('GET', '/api/user/settings', { options });
  }

  /** Change user settings: PATCH /api/user/settings */
  updateSettings(body: BodyOf<'changeUserSettings'>, options?: ChangeOptions): ResponsePromise<AnswerOf<'changeUserSettings'>> {
    return this.send('PATCH', '/api/user/settings', { body, options });
  }

  /** Create the account feed: POST /api/user/feed */
  createFeed(body?: BodyOf<'createAccountFeed'>, options?: PostOptions): ResponsePromise<AnswerOf<'createAccountFeed'>> {
    return this.send('POST', '/api/user/feed', { body, options, takesKey: true });
  }

  /** Delete the account feed: DELETE /api/user/feed */
  deleteFeed(options?: RequestOptions): ResponsePromise<AnswerOf<'deleteAccountFeed'>> {
    return this.send('DELETE', '/api/user/feed', { options });
  }
}

export class Keys extends Resource {
  /** Create an API key: POST /api/keys */
  create(body: BodyOf<'createApiKey'>, options?: PostOptions): ResponsePromise<AnswerOf<'createApiKey'>> {
    return this.send('POST', '/api/keys', { body, options, takesKey: true });
  }

  /** List API keys: GET /api/keys */
  list(query?: QueryOf<'listApiKeys'>, options?: RequestOptions): Pages<AnswerOf<'listApiKeys'>, 'keys'> {
    return this.pages('/api/keys', 'keys', { query, options });
  }

  /** Change an API key: PATCH /api/keys/{id} */
  update(id: string, body: BodyOf<'changeApiKey'>, options?: RequestOptions): ResponsePromise<AnswerOf<'changeApiKey'>> {
    return this.send('PATCH', `/api/keys/${segment(id)}`, { body, options });
  }

  /** Delete an API key: DELETE /api/keys/{id} */
  delete(id: string, options?: RequestOptions): ResponsePromise<AnswerOf<'deleteApiKey'>> {
    return this.send('DELETE', `/api/keys/${segment(id)}`, { options });
  }
}

export class Secrets extends Resource {
  /** Create a secret: POST /api/secrets */
  create(body: BodyOf<'createSecret'>, options?: PostOptions): ResponsePromise<AnswerOf<'createSecret'>> {
    return this.send('POST', '/api/secrets', { body, options, takesKey: true });
  }

  /** List secrets: GET /api/secrets */
  list(options?: RequestOptions): ResponsePromise<AnswerOf<'listSecrets'>> {
    return this.send('GET', '/api/secrets', { options });
  }

  /** Delete a secret: DELETE /api/secrets/{id} */
  delete(id: string, options?: RequestOptions): ResponsePromise<AnswerOf<'deleteSecret'>> {
    return this.send('DELETE', `/api/secrets/${segment(id)}`, { options });
  }
}

export class Tasks extends Resource {
  /** Preview sources: POST /api/tasks/preview-sources */
  previewSources(body: BodyOf<'previewSources'>, options?: PostOptions): ResponsePromise<AnswerOf<'previewSources'>> {
    return this.send('POST', '/api/tasks/preview-sources', { body, options, takesKey: true });
  }

  /** Create a task: POST /api/agent/create-task */
  create(body: BodyOf<'createTask'>, options?: PostOptions): ResponsePromise<AnswerOf<'createTask'>> {
    return this.send('POST', '/api/agent/create-task', { body, options, takesKey: true });
  }

  /** List tasks: GET /api/tasks */
  list(query?: QueryOf<'listTasks'>, options?: RequestOptions): Pages<AnswerOf<'listTasks'>, 'tasks'> {
    return this.pages('/api/tasks', 'tasks', { query, options });
  }

  /** Get a task: GET /api/tasks/{id} */
  get(id: number, options?: RequestOptions): ResponsePromise<AnswerOf<'getTask'>> {
    return this.send('GET', `/api/tasks/${segment(id)}`, { options });
  }

  /** Change, pause or resume a task: PATCH /api/tasks/{id} */
  update(id: number, body: BodyOf<'changeTask'>, options?: ChangeOptions): ResponsePromise<AnswerOf<'changeTask'>> {
    return this.send('PATCH', `/api/tasks/${segment(id)}`, { body, options });
  }

  /** Delete a task and its executions: DELETE /api/tasks/{id} */
  delete(id: number, options?: ChangeOptions): ResponsePromise<AnswerOf<'deleteTask'>> {
    return this.send('DELETE', `/api/tasks/${segment(id)}`, { options });
  }

  /** Run a task now: POST /api/tasks/{id}/execute */
  run(id: number, options?: PostOptions): ResponsePromise<AnswerOf<'executeTask'>> {
    return this.send('POST', `/api/tasks/${segment(id)}/execute`, { options, takesKey: true });
  }

  /** Duplicate a task: POST /api/tasks/{id}/duplicate */
  duplicate(id: number, body?: BodyOf<'duplicateTask'>, options?: PostOptions): ResponsePromise<AnswerOf<'duplicateTask'>> {
    return this.send('POST', `/api/tasks/${segment(id)}/duplicate`, { body, options, takesKey: true });
  }

  /** List occurrences: GET /api/tasks/{id}/occurrences */
  occurrences(id: number, query?: QueryOf<'listOccurrences'>, options?: RequestOptions): Pages<AnswerOf<'listOccurrences'>, 'occurrences'> {
    return this.pages(`/api/tasks/${segment(id)}/occurrences`, 'occurrences', { query, options });
  }

  /** List the versions of a task: GET /api/tasks/{id}/versions */
  versions(id: number, query?: QueryOf<'listVersions'>, options?: RequestOptions): Pages<AnswerOf<'listVersions'>, 'versions'> {
    return this.pages(`/api/tasks/${segment(id)}/versions`, 'versions', { query, options });
  }

  /** Get a version of a task: GET /api/tasks/{id}/versions/{number} */
  getVersion(id: number, number: number, options?: RequestOptions): ResponsePromise<AnswerOf<'getVersion'>> {
    return this.send('GET', `/api/tasks/${segment(id)}/versions/${segment(number)}`, { options });
  }

  /** Restore a version of a task: POST /api/tasks/{id}/versions/{number}/restore */
  restoreVersion(id: number, number: number, options?: PostOptions): ResponsePromise<AnswerOf<'restoreVersion'>> {
    return this.send('POST', `/api/tasks/${segment(id)}/versions/${segment(number)}/restore`, { options, takesKey: true });
  }

  /** Skip the next run: POST /api/tasks/{id}/skip-next */
  skipNext(id: number, options?: PostOptions): ResponsePromise<AnswerOf<'skipNextRun'>> {
    return this.send('POST', `/api/tasks/${segment(id)}/skip-next`, { options, takesKey: true });
  }

  /** Fill in missed runs: POST /api/tasks/{id}/backfill */
  backfill(id: number, body: BodyOf<'backfillTask'>, options?: PostOptions): ResponsePromise<AnswerOf<'backfillTask'>> {
    return this.send('POST', `/api/tasks/${segment(id)}/backfill`, { body, options, takesKey: true });
  }

  /** List templates: GET /api/templates */
  templates(options?: RequestOptions): ResponsePromise<AnswerOf<'listTemplates'>> {
    return this.send('GET', '/api/templates', { options });
  }

  /** Get a template of a task: GET /api/tasks/{id}/template */
  template(id: number, options?: RequestOptions): ResponsePromise<AnswerOf<'getTaskTemplate'>> {
    return this.send('GET', `/api/tasks/${segment(id)}/template`, { options });
  }

  /** Preview the next runs of a schedule: POST /api/tasks/preview */
  preview(body: BodyOf<'previewTask'>, options?: PostOptions): ResponsePromise<AnswerOf<'previewTask'>> {
    return this.send('POST', '/api/tasks/preview', { body, options, takesKey: true });
  }

  /** Preview what the model is sent: POST /api/tasks/preview-prompt */
  previewPrompt(body: BodyOf<'previewPrompt'>, options?: PostOptions): ResponsePromise<AnswerOf<'previewPrompt'>> {
    return this.send('POST', '/api/tasks/preview-prompt', { body, options, takesKey: true });
  }

  /** Create the feed of a task: POST /api/tasks/{id}/feed */
  createFeed(id: number, body?: BodyOf<'createTaskFeed'>, options?: PostOptions): ResponsePromise<AnswerOf<'createTaskFeed'>> {
    return this.send('POST', `/api/tasks/${segment(id)}/feed`, { body, options, takesKey: true });
  }

  /** Delete the feed of a task: DELETE /api/tasks/{id}/feed */
  deleteFeed(id: number, options?: RequestOptions): ResponsePromise<AnswerOf<'deleteTaskFeed'>> {
    return this.send('DELETE', `/api/tasks/${segment(id)}/feed`, { options });
  }
}

export class Executions extends Resource {
  /** List executions: GET /api/executions */
  list(query?: QueryOf<'listExecutions'>, options?: RequestOptions): Pages<AnswerOf<'listExecutions'>, 'executions'> {
    return this.pages('/api/executions', 'executions', { query, options });
  }

  /** Get an execution: GET /api/executions/{id} */
  get(id: number, options?: RequestOptions): ResponsePromise<AnswerOf<'getExecution'>> {
    return this.send('GET', `/api/executions/${segment(id)}`, { options });
  }

  /** Get the details of an execution: GET /api/executions/{id}/details */
  details(id: number, options?: RequestOptions): ResponsePromise<AnswerOf<'getExecutionDetails'>> {
    return this.send('GET', `/api/executions/${segment(id)}/details`, { options });
  }

  /** Compare an execution with an earlier one: GET /api/executions/{id}/diff */
  diff(id: number, query?: QueryOf<'diffExecution'>, options?: RequestOptions): ResponsePromise<AnswerOf<'diffExecution'>> {
    return this.send('GET', `/api/executions/${segment(id)}/diff`, { query, options });
  }

  /** Mark an execution as seen: POST /api/executions/{id}/seen */
  markSeen(id: number, options?: PostOptions): ResponsePromise<AnswerOf<'seeExecution'>> {
    return this.send('POST', `/api/executions/${segment(id)}/seen`, { options, takesKey: true });
  }

  /** Mark all executions as seen: POST /api/executions/seen */
  markAllSeen(body?: BodyOf<'seeExecutions'>, options?: PostOptions): ResponsePromise<AnswerOf<'seeExecutions'>> {
    return this.send('POST', '/api/executions/seen', { body, options, takesKey: true });
  }

  /** Retry an execution: POST /api/executions/{id}/retry */
  retry(id: number, options?: PostOptions): ResponsePromise<AnswerOf<'retryExecution'>> {
    return this.send('POST', `/api/executions/${segment(id)}/retry`, { options, takesKey: true });
  }

  /** Cancel an execution: POST /api/executions/{id}/cancel */
  cancel(id: number, options?: PostOptions): ResponsePromise<AnswerOf<'cancelExecution'>> {
    return this.send('POST', `/api/executions/${segment(id)}/cancel`, { options, takesKey: true });
  }

  /** Ask about an answer: POST /api/executions/{id}/ask */
  ask(id: number, body: BodyOf<'askExecution'>, options?: PostOptions): ResponsePromise<AnswerOf<'askExecution'>> {
    return this.send('POST', `/api/executions/${segment(id)}/ask`, { body, options, takesKey: true });
  }

  /** List the questions about an answer: GET /api/executions/{id}/questions */
  questions(id: number, query?: QueryOf<'listQuestions'>, options?: RequestOptions): Pages<AnswerOf<'listQuestions'>, 'questions'> {
    return this.pages(`/api/executions/${segment(id)}/questions`, 'questions', { query, options });
  }
}

export class Alerts extends Resource {
  /** List alerts: GET /api/alerts */
  list(query?: QueryOf<'listAlerts'>, options?: RequestOptions): Pages<AnswerOf<'listAlerts'>, 'alerts'> {
    return this.pages('/api/alerts', 'alerts', { query, options });
  }

  /** Acknowledge an alert: POST /api/alerts/{id}/acknowledge */
  acknowledge(id: number, options?: PostOptions): ResponsePromise<AnswerOf<'acknowledgeAlert'>> {
    return this.send('POST', `/api/alerts/${segment(id)}/acknowledge`, { options, takesKey: true });
  }
}

export class Events extends Resource {
  /** List or stream events: GET /api/events */
  list(query?: QueryOf<'listEvents'>, options?: RequestOptions): Pages<AnswerOf<'listEvents'>, 'events'> {
    return this.pages('/api/events', 'events', { query, options });
  }
}

export class Agent extends Resource {
  /** Answer a message: POST /api/agent/process */
  run(body: BodyOf<'processMessage'>, query?: QueryOf<'processMessage'>, options?: PostOptions): ResponsePromise<AnswerOf<'processMessage'>> {
    return this.send('POST', '/api/agent/process', { query, body, options, takesKey: true });
  }

  /** Save a proposed task: POST /api/agent/confirm-task */
  confirmTask(body: BodyOf<'confirmTask'>, options?: PostOptions): ResponsePromise<AnswerOf<'confirmTask'>> {
    return this.send('POST', '/api/agent/confirm-task', { body, options, takesKey: true });
  }
}

export class Webhooks extends Resource {
  /** Create a webhook: POST /api/webhooks */
  create(body: BodyOf<'createWebhook'>, options?: PostOptions): ResponsePromise<AnswerOf<'createWebhook'>> {
    return this.send('POST', '/api/webhooks', { body, options, takesKey: true });
  }

  /** List webhooks: GET /api/webhooks */
  list(query?: QueryOf<'listWebhooks'>, options?: RequestOptions): Pages<AnswerOf<'listWebhooks'>, 'webhooks'> {
    return this.pages('/api/webhooks', 'webhooks', { query, options });
  }

  /** Get a webhook: GET /api/webhooks/{id} */
  get(id: string, options?: RequestOptions): ResponsePromise<AnswerOf<'getWebhook'>> {
    return this.send('GET', `/api/webhooks/${segment(id)}`, { options });
  }

  /** Change a webhook: PATCH /api/webhooks/{id} */
  update(id: string, body: BodyOf<'changeWebhook'>, options?: ChangeOptions): ResponsePromise<AnswerOf<'changeWebhook'>> {
    return this.send('PATCH', `/api/webhooks/${segment(id)}`, { body, options });
  }

  /** Delete a webhook: DELETE /api/webhooks/{id} */
  delete(id: string, options?: ChangeOptions): ResponsePromise<AnswerOf<'deleteWebhook'>> {
    return this.send('DELETE', `/api/webhooks/${segment(id)}`, { options });
  }

  /** Rotate the secret of a webhook: POST /api/webhooks/{id}/rotate-secret */
  rotateSecret(id: string, options?: PostOptions): ResponsePromise<AnswerOf<'rotateSecret'>> {
    return this.send('POST', `/api/webhooks/${segment(id)}/rotate-secret`, { options, takesKey: true });
  }

  /** Test a webhook: POST /api/webhooks/{id}/test */
  test(id: string, options?: PostOptions): ResponsePromise<AnswerOf<'testWebhook'>> {
    return this.send('POST', `/api/webhooks/${segment(id)}/test`, { options, takesKey: true });
  }

  /** List delivery attempts: GET /api/webhooks/{id}/logs */
  logs(id: string, query?: QueryOf<'listDeliveries'>, options?: RequestOptions): Pages<AnswerOf<'listDeliveries'>, 'logs'> {
    return this.pages(`/api/webhooks/${segment(id)}/logs`, 'logs', { query, options });
  }

  /** Get a delivery attempt: GET /api/webhooks/{id}/logs/{logId} */
  getLog(id: string, logId: string, options?: RequestOptions): ResponsePromise<AnswerOf<'getDeliveryAttempt'>> {
    return this.send('GET', `/api/webhooks/${segment(id)}/logs/${segment(logId)}`, { options });
  }

  /** Redeliver a delivery: POST /api/webhooks/{id}/logs/{deliveryId}/redeliver */
  redeliver(id: string, deliveryId: string, options?: PostOptions): ResponsePromise<AnswerOf<'redeliver'>> {
    return this.send('POST', `/api/webhooks/${segment(id)}/logs/${segment(deliveryId)}/redeliver`, { options, takesKey: true });
  }

  /** Redeliver failed deliveries: POST /api/webhooks/{id}/redeliver */
  redeliverSince(id: string, body: BodyOf<'redeliverSince'>, options?: PostOptions): ResponsePromise<AnswerOf<'redeliverSince'>> {
    return this.send('POST', `/api/webhooks/${segment(id)}/redeliver`, { body, options, takesKey: true });
  }
}

export class Channels extends Resource {
  /** Create a channel: POST /api/channels */
  create(body: BodyOf<'createChannel'>, options?: PostOptions): ResponsePromise<AnswerOf<'createChannel'>> {
    return this.send('POST', '/api/channels', { body, options, takesKey: true });
  }

  /** List channels: GET /api/channels */
  list(query?: QueryOf<'listChannels'>, options?: RequestOptions): Pages<AnswerOf<'listChannels'>, 'channels'> {
    return this.pages('/api/channels', 'channels', { query, options });
  }

  /** Get a channel: GET /api/channels/{id} */
  get(id: string, options?: RequestOptions): ResponsePromise<AnswerOf<'getChannel'>> {
    return this.send('GET', `/api/channels/${segment(id)}`, { options });
  }

  /** Change a channel: PATCH /api/channels/{id} */
  update(id: string, body: BodyOf<'changeChannel'>, options?: ChangeOptions): ResponsePromise<AnswerOf<'changeChannel'>> {
    return this.send('PATCH', `/api/channels/${segment(id)}`, { body, options });
  }

  /** Delete a channel: DELETE /api/channels/{id} */
  delete(id: string, options?: ChangeOptions): ResponsePromise<AnswerOf<'deleteChannel'>> {
    return this.send('DELETE', `/api/channels/${segment(id)}`, { options });
  }

  /** Test a channel: POST /api/channels/{id}/test */
  test(id: string, options?: PostOptions): ResponsePromise<AnswerOf<'testChannel'>> {
    return this.send('POST', `/api/channels/${segment(id)}/test`, { options, takesKey: true });
  }

  /** List the attempts of a channel: GET /api/channels/{id}/logs */
  logs(id: string, query?: QueryOf<'listChannelLogs'>, options?: RequestOptions): Pages<AnswerOf<'listChannelLogs'>, 'logs'> {
    return this.pages(`/api/channels/${segment(id)}/logs`, 'logs', { query, options });
  }

  /** Send a message again: POST /api/channels/{id}/logs/{deliveryId}/redeliver */
  redeliver(id: string, deliveryId: string, options?: PostOptions): ResponsePromise<AnswerOf<'redeliverMessage'>> {
    return this.send('POST', `/api/channels/${segment(id)}/logs/${segment(deliveryId)}/redeliver`, { options, takesKey: true });
  }
}

export class Usage extends Resource {
  /** Get usage: GET /api/usage */
  get(options?: RequestOptions): ResponsePromise<AnswerOf<'getUsage'>> {
    return this.send('GET', '/api/usage', { options });
  }

  /** Set a usage alert: POST /api/usage/alerts */
  setAlert(body: BodyOf<'setUsageAlert'>, options?: PostOptions): ResponsePromise<AnswerOf<'setUsageAlert'>> {
    return this.send('POST', '/api/usage/alerts', { body, options, takesKey: true });
  }

  /** List usage alerts: GET /api/usage/alerts */
  alerts(options?: RequestOptions): ResponsePromise<AnswerOf<'listUsageAlerts'>> {
    return this.send('GET', '/api/usage/alerts', { options });
  }

  /** Delete a usage alert: DELETE /api/usage/alerts/{id} */
  deleteAlert(id: number, options?: RequestOptions): ResponsePromise<AnswerOf<'deleteUsageAlert'>> {
    return this.send('DELETE', `/api/usage/alerts/${segment(id)}`, { options });
  }
}

export class Integrations extends Resource {
  /** Validate a key of the notes tool: POST /api/integrations/notes/validate */
  validateNotes(body: BodyOf<'validateNotes'>, options?: PostOptions): ResponsePromise<AnswerOf<'validateNotes'>> {
    return this.send('POST', '/api/integrations/notes/validate', { body, options, takesKey: true });
  }

  /** Validate a token of the design tool: POST /api/integrations/design/validate */
  validateDesign(body: BodyOf<'validateDesign'>, options?: PostOptions): ResponsePromise<AnswerOf<'validateDesign'>> {
    return this.send('POST', '/api/integrations/design/validate', { body, options, takesKey: true });
  }
}

export class Notifications extends Resource {
  /** List notifications: GET /api/notifications */
  list(query?: QueryOf<'listNotifications'>, options?: RequestOptions): Pages<AnswerOf<'listNotifications'>, 'notifications'> {
    return this.pages('/api/notifications', 'notifications', { query, options });
  }

  /** Mark a notification as read: POST /api/notifications/{id}/read */
  markRead(id: number, options?: PostOptions): ResponsePromise<AnswerOf<'readNotification'>> {
    return this.send('POST', `/api/notifications/${segment(id)}/read`, { options, takesKey: true });
  }
}

export class Coupons extends Resource {
  /** Activate a coupon: POST /api/coupons/activate */
  activate(body: BodyOf<'activateCoupon'>, options?: PostOptions): ResponsePromise<AnswerOf<'activateCoupon'>> {
    return this.send('POST', '/api/coupons/activate', { body, options, takesKey: true });
  }
}

export class Uploads extends Resource {
  /** Delete a file: DELETE /api/upload */
  delete(body: BodyOf<'deleteUpload'>, options?: RequestOptions): ResponsePromise<AnswerOf<'deleteUpload'>> {
    return this.send('DELETE', '/api/upload', { body, options });
  }

  /** Upload a file: POST /api/upload */
  create(file: Blob, options?: UploadOptions): ResponsePromise<AnswerOf<'createUpload'>> {
    return this.upload('POST', '/api/upload', file, options);
  }
}

/** The resources that need only their methods. */
export class Resources {
  readonly auth: Auth;
  readonly user: User;
  readonly keys: Keys;
  readonly secrets: Secrets;
  readonly tasks: Tasks;
  readonly executions: Executions;
  readonly alerts: Alerts;
  readonly webhooks: Webhooks;
  readonly channels: Channels;
  readonly usage: Usage;
  readonly integrations: Integrations;
  readonly notifications: Notifications;
  readonly coupons: Coupons;
  readonly uploads: Uploads;

  constructor(settings: Settings) {
    this.auth = new Auth(settings);
    this.user = new User(settings);
    this.keys = new Keys(settings);
    this.secrets = new Secrets(settings);
    this.tasks = new Tasks(settings);
    this.executions = new Executions(settings);
    this.alerts = new Alerts(settings);
    this.webhooks = new Webhooks(settings);
    this.channels = new Channels(settings);
    this.usage = new Usage(settings);
    this.integrations = new Integrations(settings);
    this.notifications = new Notifications(settings);
    this.coupons = new Coupons(settings);
    this.uploads = new Uploads(settings);
  }
}
