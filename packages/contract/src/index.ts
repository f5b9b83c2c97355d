import { ApiKey } from './accounts/api-keys.ts';
import { App } from './accounts/apps.ts';
import { Session } from './accounts/auth.ts';
import { Factor } from './accounts/factors.ts';
import { Notification } from './accounts/notifications.ts';
import { Secret } from './accounts/secrets.ts';
import { UsageAlert } from './accounts/usage.ts';
import { User } from './accounts/users.ts';
import { AuditEntry } from './admin/audit.ts';
import { Coupon } from './admin/coupons.ts';
import { Provider } from './admin/providers.ts';
import { Settings } from './admin/settings.ts';
import { AdminUser } from './admin/users.ts';
import { TaskProposal } from './agent.ts';
import { Channel } from './channels/channels.ts';
import { ChannelAttempt } from './channels/deliveries.ts';
import {
  BareErrorBody,
  ErrorBody,
  NotValidBody,
  QuotaErrorBody,
  RateLimitErrorBody,
  ValidationErrorBody,
} from './envelopes.ts';
import { LoggedEvent } from './events.ts';
import { Execution } from './executions.ts';
import { Readiness } from './health.ts';
import { Occurrence } from './occurrences.ts';
import { Alert } from './tasks/alerts.ts';
import { InvalidFile } from './tasks/files.ts';
import { Template } from './tasks/templates.ts';
import { TaskVersion } from './tasks/versions.ts';
import { Task } from './tasks.ts';
import { UploadedFile } from './uploads.ts';
import { DeliveryAttempt, Webhook } from './webhooks/webhooks.ts';

export * from './envelopes.ts';
export * from './error-codes.ts';
export * from './operation.ts';
export * from './primitives.ts';
export * from './validation/validator.ts';

/** The schemas that others reference by `$id`: registered once by the application, named in the document. */
export const NAMED_SCHEMAS = [
  ErrorBody,
  ValidationErrorBody,
  QuotaErrorBody,
  RateLimitErrorBody,
  NotValidBody,
  BareErrorBody,
  InvalidFile,
  Task,
  Template,
  TaskProposal,
  TaskVersion,
  Occurrence,
  Execution,
  Alert,
  LoggedEvent,
  User,
  ApiKey,
  Secret,
  App,
  Webhook,
  DeliveryAttempt,
  Channel,
  ChannelAttempt,
  Readiness,
  Session,
  Factor,
  Notification,
  UsageAlert,
  UploadedFile,
  Coupon,
  Settings,
  Provider,
  AdminUser,
  AuditEntry,
];
