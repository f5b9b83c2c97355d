import type { Channel } from '@carillon/contract/channels/channels';
import type { FastifyInstance } from 'fastify';
import type { Person } from './people.ts';

/** The body of `POST /api/channels`. */
export const CHANNEL = { kind: 'ntfy', name: 'Phone', url: 'https://ntfy.example.com', topic: 'morning-news' };

export const tryChannel = (app: FastifyInstance, { headers }: Person, given: object = {}) =>
  app.inject({ method: 'POST', url: '/api/channels', headers, payload: { ...CHANNEL, ...given } });

/** Creates a channel by HTTP from `CHANNEL` and `given`. */
export async function postChannel(app: FastifyInstance, person: Person, given: object = {}): Promise<Channel> {
  const answer = await tryChannel(app, person, given);
  if (answer.statusCode !== 201) throw new Error(answer.body);
  return answer.json().channel;
}

/** Calls one of the routes of a channel; `path` begins after its id. */
export const callChannel = (
  app: FastifyInstance,
  { headers }: Person,
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
  id: string,
  path = '',
  payload?: object,
) => app.inject({ method, url: `/api/channels/${id}${path}`, headers, ...(payload && { payload }) });
