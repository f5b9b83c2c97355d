import type * as auth from '../accounts/auth.ts';
import type * as oauth from '../accounts/oauth.ts';
import type { ExamplesFor } from './example.ts';
import { alice, NOW, REGISTERED, success, validationError } from './fixtures.ts';

const { id, email, name, role, timezone } = alice;
const credentials = { email, password: 'correct-Horse-7' };
const SESSION = '0f9a7c52-3b1e-4d86-8a40-6e2b5d9c7f13';
const RESET_TOKEN = '5f1d7a9c3e8b2046'.repeat(4);

export const authExamples: ExamplesFor<typeof auth> & ExamplesFor<typeof oauth> = {
  register: {
    body: { name, ...credentials, timezone: 'Europe/Lisbon' },
    response: { 201: { success, user: { id, email, name, createdAt: REGISTERED } } },
    errors: { 409: 'This e-mail address is already registered.' },
  },
  login: {
    headers: { 'x-request-token': 'true' },
    body: credentials,
    response: {
      200: {
        success,
        user: { id, email, name, role },
        token: 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI3In0.bm90LWEtc2lnbmF0dXJl',
      },
    },
    errors: {
      401: {
        success: false,
        error: 'The e-mail address or the password is wrong.',
      },
      403: { success: false, error: 'This account has been deactivated.' },
    },
  },
  logout: { response: { 200: { success, message: 'You are signed out.' } } },
  getSession: {
    response: { 200: { authenticated: true, user: { id, email, name, role, timezone, createdAt: REGISTERED } } },
    errors: { 401: { authenticated: false } },
  },
  confirmSession: {
    body: { password: credentials.password },
    response: { 200: { success, message: 'The session is confirmed for 15 minutes.' } },
    errors: { 409: 'This account has no password: sign out, and sign in again.' },
  },
  forgotPassword: {
    body: { email },
    response: {
      200: { success, message: 'If this address has an account, a link to choose a new password is on its way.' },
    },
  },
  validateResetToken: {
    query: { token: RESET_TOKEN },
    response: { 200: { valid: true, userId: id } },
    errors: { 400: { valid: false, error: 'Token expirado' } },
  },
  resetPassword: {
    body: { token: RESET_TOKEN, newPassword: 'battery-Staple-8' },
    response: { 200: { success, message: 'Your password is changed. Sign in with the new one.' } },
    errors: { 400: validationError({ newPassword: ['must contain a digit'] }) },
  },
  listSessions: {
    response: {
      200: {
        success,
        sessions: [
          {
            id: SESSION,
            userAgent: 'curl/8.15.0',
            address: '203.0.113.24',
            createdAt: REGISTERED,
            lastUsedAt: NOW,
            expiresAt: '2026-11-26T15:58:40.512Z',
            current: true,
          },
        ],
      },
    },
  },
  endSession: {
    params: { id: SESSION },
    response: { 200: { success, message: 'The session is ended.' } },
    errors: { 404: 'Session not found' },
  },
  startOAuth: {
    params: { provider: 'github' },
    response: {},
    errors: { 404: 'Sign-in provider not found' },
  },
  finishOAuth: {
    params: { provider: 'github' },
    response: {},
    errors: {
      400: {
        success: false,
        error: 'This sign-in did not start in this browser, or took too long. Start again.',
      },
      403: 'The provider has not verified your e-mail address.',
      404: 'Sign-in provider not found',
    },
  },
};
