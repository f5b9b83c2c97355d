import type * as secrets from '../accounts/secrets.ts';
import type { ExamplesFor } from './example.ts';
import { CREATED, NOW, quotaExceeded, SOURCE_SECRET, success } from './fixtures.ts';

const secret: secrets.Secret = {
  id: SOURCE_SECRET,
  name: 'tracker',
  host: 'api.example.com',
  header: 'Authorization',
  createdAt: CREATED,
  lastUsedAt: NOW,
};
const params = { id: SOURCE_SECRET };

export const secretsExamples: ExamplesFor<typeof secrets> = {
  createSecret: {
    body: { name: 'tracker', host: 'api.example.com', header: 'Authorization', value: 'Bearer 5f2cd10e' },
    response: { 201: { success, secret: { ...secret, lastUsedAt: null } } },
    errors: { 402: quotaExceeded('secrets', 20, 20), 409: 'There is a secret of this name.' },
  },
  listSecrets: { response: { 200: { success, secrets: [secret] } } },
  deleteSecret: {
    params,
    response: { 200: { success, message: 'The secret is deleted.' } },
    errors: { 404: 'Secret not found' },
  },
};
