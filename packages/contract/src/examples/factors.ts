import type * as factors from '../accounts/factors.ts';
import type { ExamplesFor } from './example.ts';
import { alice, CREATED, NOW, quotaExceeded, success } from './fixtures.ts';

const { id, email, name, role } = alice;
const user = { id, email, name, role };
const FACTOR = '6c1d9a40-2f3b-4a77-8d15-90b2e4c7f3a1';
const app = { id: FACTOR, kind: 'totp', name: 'Phone', createdAt: CREATED, lastUsedAt: NOW } as const;
const passkey = { ...app, kind: 'passkey', name: 'Laptop', lastUsedAt: null } as const;
const params = { id: FACTOR };
const recoveryCodes = ['4k7m-92qx-d0fz-p6wt'];
const NOT_FOUND = { 404: 'Second factor not found' };
const CREDENTIAL = 'q0x9Vt3mT0aXc1b7';
const CLIENT_DATA = 'eyJ0eXBlIjoid2ViYXV0aG4uZ2V0In0';
const token = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI3In0.bm90LWEtc2lnbmF0dXJl';
const headers = { 'x-request-token': 'true' };

export const factorsExamples: ExamplesFor<typeof factors> = {
  listFactors: { response: { 200: { success, factors: [app], recoveryCodesLeft: 10 } } },
  createTotp: {
    body: { name: 'Phone' },
    response: {
      201: {
        success,
        factor: { ...app, lastUsedAt: null },
        secret: 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP',
        uri: 'otpauth://totp/Carillon:alice%40example.com?issuer=Carillon&secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&algorithm=SHA1&digits=6&period=30',
      },
    },
    errors: { 402: quotaExceeded('factors', 20, 20) },
  },
  confirmTotp: {
    params,
    body: { code: '492039' },
    response: { 200: { success, recoveryCodes } },
    errors: NOT_FOUND,
  },
  createPasskeyOptions: {
    response: {
      200: { success, options: { challenge: 'aTZ4…', rp: { id: 'carillon.example.com', name: 'Carillon' } } },
    },
  },
  createPasskey: {
    body: {
      name: 'Laptop',
      response: {
        id: CREDENTIAL,
        rawId: CREDENTIAL,
        type: 'public-key',
        response: { clientDataJSON: CLIENT_DATA, attestationObject: 'o2NmbXRkbm9uZQ', transports: ['internal'] },
      },
    },
    response: { 201: { success, factor: passkey, recoveryCodes: [] } },
    errors: { 402: quotaExceeded('factors', 20, 20) },
  },
  deleteFactor: { params, response: { 200: { success, message: 'The second factor is deleted.' } }, errors: NOT_FOUND },
  createRecoveryCodes: {
    response: { 200: { success, recoveryCodes } },
    errors: { 409: 'Recovery codes need a second factor: add one first.' },
  },
  answerTicket: {
    headers,
    body: { ticket: '5f1d7a9c3e8b2046'.repeat(4), code: '492039' },
    response: { 200: { success, user, token } },
    errors: { 401: { success: false, error: 'This code is wrong, or was used before.' } },
  },
  getPasskeyOptions: {
    response: { 200: { success, options: { challenge: 'aTZ4…', rpId: 'carillon.example.com' } } },
  },
  signInWithPasskey: {
    headers,
    body: {
      response: {
        id: CREDENTIAL,
        rawId: CREDENTIAL,
        type: 'public-key',
        response: { clientDataJSON: CLIENT_DATA, authenticatorData: 'SZYN5YgOjGh0NBcP', signature: 'MEUCIQDx' },
      },
    },
    response: { 200: { success, user, token } },
    errors: { 401: { success: false, error: 'This passkey is not accepted.' } },
  },
};
