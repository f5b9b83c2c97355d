import { createVerifier } from 'fast-jwt';
import { openConnections, type Query } from '../connections.ts';

export type Row = Record<string, unknown>;

export interface Claims {
  /** The id of the user. */
  sub: string;
  /** The id of the session. */
  sid: string;
}

/** High enough that the limiters count but never refuse. */
export const LIMIT = { max: 100_000_000, windowMs: 60_000 } as const;

/** More than two cost PostgreSQL more for each statement, because it reads and answers fewer of them together. */
const DATABASE_CONNECTIONS = 2;

export const openDatabase = (): Promise<Query> => openConnections(process.env.DATABASE_URL ?? '', DATABASE_CONNECTIONS);

/** The returned function throws unless it is a valid bearer token. */
export function createTokenCheck(): (authorization: string | undefined) => Claims {
  const verify = createVerifier({ key: process.env.JWT_SECRET ?? '', algorithms: ['HS256'], cache: true });
  return (authorization) => {
    if (!authorization?.startsWith('Bearer ')) throw new Error('There is no bearer token.');
    return verify(authorization.slice('Bearer '.length)) as Claims;
  };
}

export const printReady = (port: number) => console.log(`ready at http://127.0.0.1:${port}`);

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(0));
