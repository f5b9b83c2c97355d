import { Type } from '@sinclair/typebox';
import { Cursor, strictObject, Uuid } from '../../../primitives.ts';
import { ChangeWebhookInput, CreateWebhookInput } from '../../../webhooks/webhooks.ts';
import { userAction } from '../define.ts';

const WebhookId = { id: Uuid };
const OfDelivery = { id: Uuid, deliveryId: Uuid };

export const webhookActions = {
  listWebhooks: userAction(strictObject({ cursor: Type.Optional(Cursor) })),
  getWebhook: userAction(strictObject(WebhookId)),
  showWebhook: userAction(strictObject({ ...WebhookId, cursor: Type.Optional(Cursor) })),
  getDelivery: userAction(strictObject(OfDelivery)),
  createWebhook: userAction(
    strictObject({
      id: Type.String({
        format: 'uuid',
        description: 'Chosen by the form: sending it twice creates one webhook',
      }),
      url: CreateWebhookInput.properties.url,
      events: CreateWebhookInput.properties.events,
      description: CreateWebhookInput.properties.description,
    }),
  ),
  changeWebhook: userAction(
    strictObject({
      ...WebhookId,
      revision: Type.Optional(Type.Integer({ description: 'The one that the change starts from' })),
      ...ChangeWebhookInput.properties,
    }),
  ),
  rotateSecret: userAction(strictObject({ ...WebhookId, secretVersion: Type.String({ maxLength: 64 }) })),
  deleteWebhook: userAction(strictObject(WebhookId)),
  testWebhook: userAction(strictObject(WebhookId)),
  redeliver: userAction(strictObject(OfDelivery)),
  redeliverSince: userAction(
    strictObject({
      ...WebhookId,
      day: Type.String({ maxLength: 20, description: 'In the time zone of the profile, such as `2026-11-20`' }),
    }),
  ),
};
