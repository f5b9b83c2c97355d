import { redirect } from '../../answer.ts';
import type { PageRoutes } from '../../http/routes.ts';
import { showSignIn, signIn } from './sign-in.ts';

export function accountPages({ guest, user }: PageRoutes): void {
  guest('GET', '/sign-in', showSignIn);
  guest('POST', '/sign-in', signIn);
  user('POST', '/sign-out', async ({ actions, session, dashboard }) => {
    await actions.signOut(session, {});
    return { ...redirect('/sign-in', 'You are signed out.'), cookies: [dashboard.serializeSession(null)] };
  });
}
