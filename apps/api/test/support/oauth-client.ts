import { createHash, randomBytes } from 'node:crypto';
import type { ConsentPreset } from '@carillon/contract/actions/web/settings';
import type { FastifyInstance } from 'fastify';
import { buildWebActions } from '../../src/handlers/actions/web/build.ts';
import { getContext } from './context.ts';
import type { Person } from './people.ts';

export const CLAUDE = {
  id: 'https://claude.ai/oauth/mcp-oauth-client-metadata',
  redirect: 'https://claude.ai/api/mcp/auth_callback',
};

export interface Program {
  id: string;
  redirect: string;
}

interface Wish {
  scope?: string;
  preset?: ConsentPreset | null;
  currentPassword?: string;
  /** Parameters that differ; null leaves one out. */
  changes?: Record<string, string | null>;
}

export interface Tokens {
  access_token: string;
  refresh_token: string;
  scope: string;
  expires_in: number;
  token_type: string;
}

/** The query of a request as assistants send it, and the verifier of its challenge. */
export function buildRequest({ id, redirect }: Program, { scope, changes = {} }: Wish = {}) {
  const verifier = randomBytes(32).toString('base64url');
  const params = new URLSearchParams({
    response_type: 'code',
    client_id: id,
    redirect_uri: redirect,
    state: 'state-of-the-program',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    ...(scope !== undefined && { scope }),
  });
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) params.delete(name);
    else params.set(name, value);
  }
  return { search: String(params), verifier };
}

/** What the user's page answers. */
export async function answer(app: FastifyInstance, person: Person, search: string, wish: Wish = {}) {
  const { preset = 'everything', currentPassword } = wish;
  const given = { search, preset, ...(currentPassword !== undefined && { currentPassword }) };
  return buildWebActions(getContext(app)).answerConsent(person.token, given);
}

/** Where the program gets its code. */
export async function allow(app: FastifyInstance, person: Person, program: Program, wish: Wish = {}) {
  const { search, verifier } = buildRequest(program, wish);
  const result = await answer(app, person, search, wish);
  if (!result.success) throw new Error(JSON.stringify(result));
  if (result.data.kind !== 'answered') throw new Error(JSON.stringify(result.data));
  const to = new URL(result.data.to);
  return { to, code: to.searchParams.get('code') ?? '', verifier };
}

export const postForm = (app: FastifyInstance, url: string, fields: Record<string, string>) =>
  app.inject({
    method: 'POST',
    url,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: String(new URLSearchParams(fields)),
  });

export const exchange = (
  app: FastifyInstance,
  { id, redirect }: Program,
  { code, verifier }: { code: string; verifier: string },
) =>
  postForm(app, '/oauth/token', {
    grant_type: 'authorization_code',
    client_id: id,
    redirect_uri: redirect,
    code,
    code_verifier: verifier,
  });

export const refresh = (app: FastifyInstance, { id }: Pick<Program, 'id'>, token: string) =>
  postForm(app, '/oauth/token', { grant_type: 'refresh_token', client_id: id, refresh_token: token });

/** Connects a program, and returns its tokens. */
export async function connectProgram(app: FastifyInstance, person: Person, program: Program = CLAUDE, wish: Wish = {}) {
  const answered = await exchange(app, program, await allow(app, person, program, wish));
  if (answered.statusCode !== 200) throw new Error(answered.body);
  return answered.json() as Tokens;
}

/** The status of a request to `/mcp`. */
export async function ask(app: FastifyInstance, token: string, body: object = PING) {
  return app.inject({
    method: 'POST',
    url: '/mcp',
    headers: { authorization: `Bearer ${token}`, accept: 'application/json, text/event-stream' },
    payload: body,
  });
}

const PING = { jsonrpc: '2.0', id: 1, method: 'ping' };
