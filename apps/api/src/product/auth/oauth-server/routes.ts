import { ASSISTANT_SCOPES } from '@carillon/contract/accounts/api-keys';
import * as contract from '@carillon/contract/accounts/apps';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from '../../../context.ts';
import type { Config } from '../../../lib/config/config.ts';
import { toObject } from '../../../lib/egress/exchange.ts';
import { type Routes, success } from '../../../platform/http/validation.ts';
import { disconnectApp, listApps } from './apps.ts';
import { findClient, readRegistration, signId, toMetadata } from './clients.ts';
import type { LibraryAnswer } from './library-call.ts';
import { askLibrary } from './serve.ts';

const FORM = 'application/x-www-form-urlencoded';
const PUBLIC = { config: { access: 'public' }, schema: { hide: true } } as const;

/** The authorization server of assistants. Its errors have the form of RFC 6749. */
export const oauthServerRoutes: Routes = async (app, { ctx }) => {
  app.addContentTypeParser(FORM, { parseAs: 'string' }, (_request, body, done) => done(null, body));

  app.get('/.well-known/oauth-authorization-server', PUBLIC, async () => describeServer(ctx.config));

  for (const url of ['/oauth/token', '/oauth/revoke']) {
    app.post(url, PUBLIC, async (request, reply) => {
      if (typeof request.body !== 'string') return refuse(reply, 'invalid_request', `Send the body as ${FORM}.`);
      const client = await findClient(request.ctx, new URLSearchParams(request.body).get('client_id'));
      return send(reply, await passOn(request.ctx, request, client, FORM, request.body));
    });
  }

  app.post('/oauth/register', PUBLIC, async (request, reply) => {
    if (!ctx.config.oauthRegistration) {
      return refuse(
        reply.code(403),
        'access_denied',
        'This server registers no programs: use the address of a document.',
      );
    }
    const document = readRegistration(toObject(request.body));
    if (!document) {
      return refuse(reply, 'invalid_redirect_uri', 'redirect_uris: 1 to 10 addresses, each of at most 500 characters.');
    }
    const id = signId(ctx.config, document);
    if (id === null)
      return refuse(reply, 'invalid_client_metadata', 'The name and the addresses are too long together.');
    const client = { id, ...document };
    const body = JSON.stringify(toMetadata(client));
    return send(reply, await passOn(request.ctx, request, client, 'application/json', body));
  });
};

/** The document of RFC 8414. */
const describeServer = ({ baseUrl, oauthRegistration }: Config) => ({
  issuer: baseUrl,
  authorization_endpoint: `${baseUrl}/oauth/authorize`,
  token_endpoint: `${baseUrl}/oauth/token`,
  ...(oauthRegistration && { registration_endpoint: `${baseUrl}/oauth/register` }),
  revocation_endpoint: `${baseUrl}/oauth/revoke`,
  scopes_supported: [...ASSISTANT_SCOPES, 'offline_access'],
  response_types_supported: ['code'],
  response_modes_supported: ['query'],
  grant_types_supported: ['authorization_code', 'refresh_token'],
  code_challenge_methods_supported: ['S256'],
  token_endpoint_auth_methods_supported: ['none'],
  revocation_endpoint_auth_methods_supported: ['none'],
  client_id_metadata_document_supported: true,
  authorization_response_iss_parameter_supported: true,
  service_documentation: `${baseUrl}/api/docs`,
});

function passOn(
  ctx: Context,
  { url }: FastifyRequest,
  client: Parameters<typeof askLibrary>[1]['client'],
  type: string,
  body: string,
): Promise<LibraryAnswer> {
  const [path = ''] = url.split('?', 1);
  return askLibrary(ctx, { client }, { method: 'POST', url: path, headers: { 'content-type': type }, body });
}

function send(reply: FastifyReply, { status, headers, body }: LibraryAnswer) {
  for (const name of ['content-type', 'pragma', 'www-authenticate']) {
    const value = headers[name];
    if (value !== undefined) reply.header(name, value);
  }
  return reply.code(status).send(body);
}

const refuse = (reply: FastifyReply, error: string, description: string) =>
  reply.code(reply.statusCode === 200 ? 400 : reply.statusCode).send({ error, error_description: description });

/** What has been connected, for its user. */
export const appsRoutes: Routes = async (app) => {
  // Without a scope: a session only.
  const config = { access: 'user' } as const;

  app.get('/api/user/apps', { schema: contract.listApps, config }, async ({ ctx, caller, query }) => ({
    success,
    ...(await listApps(ctx, caller, query)),
  }));

  app.delete('/api/user/apps/:id', { schema: contract.disconnectApp, config }, async ({ ctx, caller, params }) => {
    await disconnectApp(ctx, caller, params.id);
    return { success, message: 'The app is disconnected.' };
  });
};
