import { readForm } from '../../http/forms.ts';
import { type Notice, type Redirect, redirect, type UserPageContext, unwrap } from '../../page.ts';
import { readId } from './address.ts';

export async function switchWebhook(context: UserPageContext): Promise<Redirect> {
  const { actions, session, request, texts } = context;
  const id = readId(context);
  const isActive = readForm(request).text('isActive') === 'true';
  unwrap(await actions.changeWebhook(session, { id, isActive }));
  return redirect(`/webhooks/${id}`, isActive ? texts.webhooks.switchedOn : texts.webhooks.switchedOff);
}

/** Waits for the receiver, and says what it answered. */
export async function testWebhook(context: UserPageContext): Promise<Redirect> {
  const { actions, session } = context;
  const id = readId(context);
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
