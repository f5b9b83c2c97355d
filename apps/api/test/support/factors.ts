import type { FastifyInstance } from 'fastify';
import { Secret, TOTP } from 'otpauth';
import type { createAuthenticator } from './authenticator.ts';
import { PASSWORD, type Person } from './people.ts';

type Headers = Record<string, string>;

export const post = (app: FastifyInstance, url: string, headers: Headers, payload?: object) =>
  app.inject({ method: 'POST', url, headers, ...(payload && { payload }) });

/** The code that an authenticator app shows at an instant. */
export const readCode = (secret: string, at: Date): string =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: at.getTime() });

/** Adds an authenticator app, whose first code is that of `now`. */
export async function addTotp(app: FastifyInstance, { headers }: Pick<Person, 'headers'>, now: Date) {
  const created = await post(app, '/api/user/factors/totp', headers, {});
  if (created.statusCode !== 201) throw new Error(created.body);
  const { factor, secret } = created.json();
  const confirmed = await post(app, `/api/user/factors/${factor.id}/confirm`, headers, { code: readCode(secret, now) });
  if (confirmed.statusCode !== 200) throw new Error(confirmed.body);
  return {
    id: factor.id as string,
    secret: secret as string,
    recoveryCodes: confirmed.json().recoveryCodes as string[],
  };
}

export async function addPasskey(
  app: FastifyInstance,
  { headers }: Pick<Person, 'headers'>,
  device: ReturnType<typeof createAuthenticator>,
) {
  const { options } = (await post(app, '/api/user/factors/passkey/options', headers)).json();
  const created = await post(app, '/api/user/factors/passkey', headers, {
    name: 'Laptop',
    response: device.register(options),
  });
  if (created.statusCode !== 201) throw new Error(created.body);
  const { factor, recoveryCodes } = created.json();
  return { id: factor.id as string, recoveryCodes: recoveryCodes as string[] };
}

/** Signs in with the password, and returns the ticket that it is answered with. */
export async function getTicket(app: FastifyInstance, { email }: Pick<Person, 'email'>): Promise<string> {
  const asked = await post(app, '/api/auth/login', {}, { email, password: PASSWORD });
  if (asked.statusCode !== 401) throw new Error(asked.body);
  return asked.json().details.ticket;
}
