import type { PageRoutes } from '../../http/routes.ts';
import { redirect } from '../../page.ts';
import { confirmEmail, showConfirmation } from './confirm-email.ts';
import { requestReset, showForgotPassword } from './forgot-password.ts';
import { register, showRegister } from './register.ts';
import { resetPassword, showReset } from './reset-password.ts';
import { answerSecondFactor, showSecondFactor, signInWithPasskey } from './second-factor.ts';
import { setUp, showSetup } from './setup.ts';
import { showSignIn, signIn } from './sign-in.ts';
import { showUnsubscribe, unsubscribe } from './unsubscribe.ts';

export function accountPages({ guest, oneClick, user }: PageRoutes): void {
  guest('GET', '/sign-in', showSignIn);
  guest('POST', '/sign-in', signIn);
  guest('GET', '/sign-in/second-factor', showSecondFactor);
  guest('POST', '/sign-in/second-factor', answerSecondFactor);
  guest('POST', '/sign-in/passkey', signInWithPasskey);
  guest('GET', '/register', showRegister);
  guest('POST', '/register', register);
  guest('GET', '/forgot-password', showForgotPassword);
  guest('POST', '/forgot-password', requestReset);
  guest('GET', '/handler/reset-password/:token', showReset);
  guest('POST', '/handler/reset-password/:token', resetPassword);
  guest('GET', '/handler/confirm-email/:token', showConfirmation);
  guest('POST', '/handler/confirm-email/:token', confirmEmail);
  guest('GET', '/unsubscribe/:token', showUnsubscribe);
  oneClick('/unsubscribe/:token', unsubscribe);
  guest('GET', '/setup', showSetup);
  guest('POST', '/setup', setUp);
  user('POST', '/sign-out', async ({ actions, session, dashboard, texts }) => {
    await actions.signOut(session, {});
    return { ...redirect('/sign-in', texts.account.signedOut), cookies: [dashboard.serializeSession(null)] };
  });
}
