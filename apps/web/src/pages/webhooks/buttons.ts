import type { WebhookStatus } from '@carillon/contract/webhooks/webhooks';
import { type Html, html } from '../../html.ts';
import { readForm } from '../../http/forms.ts';
import { readUuid } from '../../http/path-ids.ts';
import { type Notice, type Redirect, redirect, type UserPageContext, unwrap } from '../../page.ts';

export async function switchWebhook(context: UserPageContext): Promise<Redirect> {
  const { actions, session, request, texts } = context;
  const id = readUuid(context);
  const isActive = readForm(request).text('isActive') === 'true';
  unwrap(await actions.changeWebhook(session, { id, isActive }));
  return redirect(`/webhooks/${id}`, isActive ? texts.webhooks.switchedOn : texts.webhooks.switchedOff);
}

/** Waits for the receiver, and says what it answered. */
export async function testWebhook(context: UserPageContext): Promise<Redirect> {
  const { actions, session } = context;
  const id = readUuid(context);
  return { to: `/webhooks/${id}`, notice: describeTest(context, unwrap(await actions.testWebhook(session, { id }))) };
}

interface TestResult {
  success: boolean;
  statusCode: number | null;
  responseTime: number;
  error: string | null;
}

/** The notice about the test of a webhook or a channel. */
export function describeTest({ texts }: UserPageContext, result: TestResult): Notice {
  const { success, statusCode, responseTime, error } = result;
  const { deliveries, formats } = texts;
  return success
    ? { kind: 'info', text: deliveries.testDelivered(statusCode, formats.duration(responseTime)) }
    : { kind: 'warn', text: deliveries.testFailed(error ?? '') };
}

/** The button that switches a webhook or a channel on or off. */
export const renderSwitch = (
  { csrfField, texts: { deliveries } }: UserPageContext,
  path: string,
  status: WebhookStatus,
  isPrimary: boolean,
): Html =>
  html`<form method="post" action="${path}/switch">${csrfField}<button class="${isPrimary && 'primary'}" name="isActive" value="${
    status === 'active' ? 'false' : 'true'
  }">${status === 'active' ? deliveries.switchOff : deliveries.switchOn}</button></form>`;

/** The button that sends a test to a webhook or a channel. */
export const renderTest = ({ csrfField, texts }: UserPageContext, path: string, isPrimary: boolean): Html =>
  html`<form method="post" action="${path}/test">${csrfField}<button class="${isPrimary && 'primary'}">${texts.deliveries.sendTest}</button></form>`;
