import type * as apiKeys from '../accounts/api-keys.ts';
import type { ExamplesFor } from './example.ts';
import { API_KEY, CREATED, NOW, quotaExceeded, success } from './fixtures.ts';

const key: apiKeys.ApiKey = {
  id: API_KEY,
  name: 'Nightly report',
  prefix: 'crl_4fK9mQ2x',
  scopes: ['tasks:read', 'executions:read'],
  expiresAt: '2027-11-19T00:00:00.000Z',
  lastUsedAt: NOW,
  createdAt: CREATED,
};
const params = { id: API_KEY };
const errors = { 404: 'API key not found' };

export const apiKeysExamples: ExamplesFor<typeof apiKeys> = {
  createApiKey: {
    body: { name: key.name, scopes: key.scopes, expiresAt: '2027-11-19T00:00:00Z' },
    response: { 201: { success, key: { ...key, lastUsedAt: null }, secret: 'crl_4fK9mQ2x…' } },
    errors: { 402: quotaExceeded('apiKeys', 25, 25) },
  },
  listApiKeys: {
    query: { limit: 25 },
    response: { 200: { success, keys: [key], pagination: { limit: 25, hasMore: false, nextCursor: null } } },
  },
  changeApiKey: {
    params,
    body: { name: 'Weekly report', expiresAt: null },
    response: { 200: { success, key: { ...key, name: 'Weekly report', expiresAt: null } } },
    errors,
  },
  deleteApiKey: { params, response: { 200: { success, message: 'The API key is deleted.' } }, errors },
};
