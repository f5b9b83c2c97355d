import { API_KEY_SCOPES, type ApiKeyScope } from '@carillon/contract/accounts/api-keys';
import type { FastifyInstance } from 'fastify';
import { ADMIN_KEY } from './context.ts';
import { confirmSession, type Person } from './people.ts';

export const ALL_SCOPES = Object.keys(API_KEY_SCOPES) as ApiKeyScope[];
export const USER_SCOPES = ALL_SCOPES.filter((scope) => scope !== 'admin');

export interface TestKey {
  id: string;
  secret: string;
  /** With the admin key for an admin. */
  headers: { authorization: string; 'x-admin-key'?: string };
}

/** Creates an API key with the session of its owner. Default: all scopes that the owner can give. */
export async function createKey(
  app: FastifyInstance,
  { headers }: Pick<Person, 'headers'>,
  { scopes, expiresAt }: { scopes?: readonly ApiKeyScope[]; expiresAt?: string } = {},
): Promise<TestKey> {
  const isAdmin = headers['x-admin-key'] !== undefined;
  const body = { name: 'A program', scopes: scopes ?? (isAdmin ? ALL_SCOPES : USER_SCOPES), expiresAt };
  const create = () => app.inject({ method: 'POST', url: '/api/keys', headers, body });
  let created = await create();
  if (created.headers['x-error-code'] === 'CONFIRMATION_REQUIRED') {
    await confirmSession(app, { headers });
    created = await create();
  }
  if (created.statusCode !== 201) throw new Error(`The key was not created: ${created.body}`);
  const { key, secret } = created.json();
  const authorization = `Bearer ${secret}`;
  return { id: key.id, secret, headers: { authorization, ...(isAdmin ? { 'x-admin-key': ADMIN_KEY } : {}) } };
}
