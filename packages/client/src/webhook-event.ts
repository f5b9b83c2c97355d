import type { webhooks } from './generated/api.ts';

export type EventKind = keyof webhooks;

type Delivered<Kind extends EventKind> = webhooks[Kind] extends {
  post: { requestBody: { content: { 'application/json': infer Body } } };
}
  ? Body
  : never;

/** The body of a delivery. `event` distinguishes the kinds. */
export type WebhookEvent = { [Kind in EventKind]: Delivered<Kind> & { event: Kind } }[EventKind];

type DataOf<Body> = Body extends { data: infer Data } ? Data : never;

/** An event of the log. `event` distinguishes the kinds. */
export type LiveEvent<Kinds extends EventKind = EventKind> = {
  [Kind in Kinds]: { id: string; event: Kind; timestamp: string; data: DataOf<Delivered<Kind>> };
}[Kinds];
