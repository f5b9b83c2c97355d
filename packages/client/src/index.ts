export type { AgentEvent } from './agent-stream.ts';
export { Carillon, type CustomRequest } from './client.ts';
export * from './errors.ts';
export type { components, operations, paths } from './generated/api.ts';
export type { StreamOptions } from './live-events.ts';
export type { ChangeOptions, ClientOptions, PostOptions, RequestOptions } from './options.ts';
export type { Pages } from './pages.ts';
export type { Answer } from './request.ts';
export type { AnswerOf, BodyOf, QueryOf, UploadOptions } from './resource.ts';
export type { ResponsePromise } from './response-promise.ts';
export {
  type VerifyOptions,
  verifyWebhook,
  type WebhookHeaders,
  WebhookVerificationError,
} from './verify-webhook.ts';

export type { EventKind, LiveEvent, WebhookEvent } from './webhook-event.ts';

import type { components } from './generated/api.ts';

type Schemas = components['schemas'];
export type Task = Schemas['Task'];
export type TaskExecution = Schemas['TaskExecution'];
export type Occurrence = Schemas['Occurrence'];
export type User = Schemas['User'];
export type Webhook = Schemas['Webhook'];
export type DeliveryAttempt = Schemas['DeliveryAttempt'];
