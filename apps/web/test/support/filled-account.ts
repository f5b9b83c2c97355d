import type { Test } from 'tap';
import { composeReset } from '../../../api/src/product/auth/password-reset.ts';
import { requestConfirmations } from '../../../api/src/product/notifications/addresses.ts';
import { testContext } from '../../../api/test/support/context.ts';
import { insertCoupon } from '../../../api/test/support/coupons.ts';
import { addTotp, post } from '../../../api/test/support/factors.ts';
import { createKey } from '../../../api/test/support/keys.ts';
import { readQueuedTokens } from '../../../api/test/support/mails.ts';
import { buildRequest, CLAUDE, connectProgram } from '../../../api/test/support/oauth-client.ts';
import { signUpAda } from '../../../api/test/support/people.ts';
import { insertProviders } from '../../../api/test/support/providers.ts';
import { insertSample, SAMPLE_NOW } from '../../../api/test/support/sample.ts';
import { insertActivity } from '../../../api/test/support/sample-activity.ts';
import { insertChannels } from '../../../api/test/support/sample-channels.ts';
import { insertUpload } from '../../../api/test/support/tasks.ts';
import { listPages, toAddress } from './every-page.ts';

/** Files, texts, parts of pages, and pages that show nothing once there is an account. */
const OTHERS: readonly string[] = [
  '/executions.csv',
  '/usage.csv',
  '/settings/tasks/tasks.yaml',
  '/tasks/:id/template',
  '/executions/:id/text',
  '/tasks/new/tools',
  '/setup',
];

/** An admin with something on each page. `pages`: the address of each page; `others`: of what is no whole page. */
export async function fillAccount(t: Test) {
  const { app, ctx, clock } = await testContext(t);
  clock.set(SAMPLE_NOW);
  const ada = await signUpAda(app);
  const sample = await insertSample(ctx, ada.id);
  const file = await insertUpload(ctx, ada);
  const activity = await insertActivity(ctx, ada.id, sample);
  const channels = await insertChannels(ctx, ada.id, sample);
  const email = 'team@example.com';
  await requestConfirmations(ctx, ada.id, [email]);
  const [confirmation = ''] = await readQueuedTokens(ctx, email);
  const provider = { id: '00000000-0000-4000-8000-0000000000aa', name: 'local', kind: 'openai' } as const;
  await insertProviders(ctx, { ...provider, baseUrl: 'http://127.0.0.1:9/v1' });
  const factor = await addTotp(app, ada, ctx.now());
  const { secret } = (
    await post(app, '/api/secrets', ada.headers, {
      name: 'tracker',
      host: 'api.example.com',
      header: 'X-Key',
      value: 'a',
    })
  ).json();
  const waiting = (await post(app, '/api/user/factors/totp', ada.headers, {})).json();
  await connectProgram(app, ada);
  const [connected] = (await app.inject({ url: '/api/user/apps', headers: ada.headers })).json().apps;
  /** The ids of what pages show, by the address before them. */
  const parameters = {
    '/tasks/': sample.tasks.get('Nightly error digest') ?? 0,
    '/tasks/:id/versions/': 1,
    '/executions/': sample.failedRun,
    '/files/': file.id,
    '/channels/': channels.slack,
    '/webhooks/': sample.webhook,
    '/webhooks/:id/deliveries/': activity.delivery,
    '/admin/users/': ada.id,
    '/admin/providers/': provider.id,
    '/admin/coupons/': (await insertCoupon(ctx, { code: 'SPRING-2026' })).id,
    '/settings/second-factor/': factor.id,
    '/settings/second-factor/totp/': waiting.factor.id,
    '/settings/secrets/': secret.id,
    '/settings/keys/': (await createKey(app, ada)).id,
    '/settings/apps/': connected.id,
    '/handler/reset-password/': (await composeReset(ctx, ada.email))?.link.split('/').at(-1) ?? '',
    '/handler/confirm-email/': confirmation,
    '/unsubscribe/': 'a'.repeat(64),
  };
  /** Pages that show what their query names. */
  const queries: Readonly<Record<string, string>> = {
    '/tasks/delete': `?ids=${parameters['/tasks/']}`,
    '/oauth/authorize': `?${buildRequest(CLAUDE).search}`,
  };
  const build = (pattern: string) => `${toAddress(pattern, parameters)}${queries[pattern] ?? ''}`;
  const pages = listPages(app).filter((pattern) => !OTHERS.includes(pattern));
  /** What the same patterns show of another kind, and of a digest. */
  const more = ['/channels/new?kind=email', `/channels/${channels.mail}`];
  return { app, ctx, ada, parameters, pages: [...pages.map(build), ...more], others: OTHERS.map(build) };
}
