import type { InjectOptions, RouteOptions } from 'fastify';
import { SESSION_COOKIE } from '../../../src/platform/http/credentials.ts';
import type { PlantedSecrets } from './planted-secrets.ts';

interface RequestOptions extends Pick<PlantedSecrets, 'plant'> {
  asUser: Record<string, string>;
  asAdmin: Record<string, string>;
}

const NAMES = [
  'password',
  'newPassword',
  'currentPassword',
  'token',
  'apiKey',
  'secret',
  'encryptedProviderKey',
  'modelRouterApiKey',
  'prompt',
  'message',
  'code',
  'access_token',
];

/** Valid and invalid requests to a route, each with secrets in all its parts. */
export function* buildRequestsWithSecrets(
  { method, url }: RouteOptions,
  { plant, asUser, asAdmin }: RequestOptions,
): Generator<InjectOptions> {
  const secretsFor = (where: string) => Object.fromEntries(NAMES.map((name) => [name, plant(`${name} in ${where}`)]));
  const name = `${method} ${url}`;
  const httpMethod = [method].flat()[0] as 'POST';
  const path = url.replaceAll(/:\w+/g, '1');
  const secret = (what: string) => plant(`${what} of ${name}`);
  for (const authorization of [
    `Bearer ${secret('the bearer token')}`,
    `bearer  ${secret('the bearer token')} ${secret('a second word')}`,
    `Basic ${Buffer.from(`alice:${secret('the Basic password')}`).toString('base64')}`,
    `Token ${secret('another scheme')}`,
    secret('no scheme'),
  ]) {
    yield { method: httpMethod, url: path, headers: { authorization } };
  }
  yield {
    method: httpMethod,
    url: path,
    headers: { cookie: `${SESSION_COOKIE}=${secret('the cookie')}; other=${secret('another cookie')}` },
  };
  const keys = [
    'x-api-key',
    'x-auth-token',
    'x-csrf-token',
    'x-webhook-signature',
    'proxy-authorization',
    'x-admin-key',
  ];
  const headers = Object.fromEntries(keys.map((key) => [key, secret(key)]));
  yield { method: httpMethod, url: path, headers: { ...headers, ...asUser } };
  const query = new URLSearchParams(secretsFor(`the query of ${name}`));
  yield { method: httpMethod, url: `${path}?${query}`, headers: asUser };
  yield { method: httpMethod, url: `${path}?${query}#${secret('the fragment')}`, headers: asAdmin };
  if (url.includes(':'))
    yield { method: httpMethod, url: url.replaceAll(/:\w+/g, () => secret('a part of the path')), headers: asUser };
  if (['GET', 'HEAD', 'OPTIONS'].includes(httpMethod)) return;
  const body = JSON.stringify(secretsFor(`the body of ${name}`));
  const json = { ...asUser, 'content-type': 'application/json' };
  for (const payload of [
    body,
    body.slice(0, -1),
    `${body}}`,
    JSON.stringify([secret('a list')]),
    JSON.stringify(secret('a text')),
    `{"${secret('a field name')}": 1`,
  ]) {
    yield { method: httpMethod, url: path, headers: json, payload };
  }
  for (const [file, content] of [
    [`${secret('a file name')}.exe`, secret('a file')],
    ['a.json', `{"password": "${secret('a file')}"`],
    [`${'x'.repeat(250)}${secret('a long file name')}.txt`, secret('a file')],
  ]) {
    const part = `Content-Disposition: form-data; name="file"; filename="${file}"\r\n\r\n${content}`;
    const form = { ...asUser, 'content-type': 'multipart/form-data; boundary=x' };
    for (const payload of [`--x\r\n${part}\r\n--x--\r\n`, `--x\r\n${part}`]) {
      yield { method: httpMethod, url: path, headers: form, payload };
    }
  }
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/xml']) {
    yield {
      method: httpMethod,
      url: path,
      headers: { ...asUser, 'content-type': type },
      payload: `password=${secret(type)}`,
    };
  }
}
