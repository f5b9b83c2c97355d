import { createVerifier } from 'fast-jwt';
import postgres from 'postgres';

/** The pool size of the API. */
const CONNECTIONS = 20;

/** Shared by the HTTP baselines, so that only the framework and its rate limiter differ. */
export interface SessionAndTask {
  /** Throws unless it is a valid bearer token. */
  verify(authorization: string | undefined): Claims;
  findSession(claims: Claims): Promise<Record<string, unknown> | null>;
  /** With the fields of Carillon's response. */
  findTask(id: number, userId: number): Promise<Record<string, unknown> | null>;
}

export interface Claims {
  sub: string;
  sid: string;
}

/** Reads Carillon's tables through postgres.js with its defaults: prepared, pipelined statements. */
export function createSessionAndTask(): SessionAndTask {
  const { DATABASE_URL = '', JWT_SECRET = '' } = process.env;
  const sql = postgres(DATABASE_URL, { max: CONNECTIONS });
  const verifyToken = createVerifier({ key: JWT_SECRET, algorithms: ['HS256'] });
  return {
    verify(authorization) {
      if (!authorization?.startsWith('Bearer ')) throw new Error('There is no bearer token.');
      return verifyToken(authorization.slice('Bearer '.length)) as Claims;
    },
    async findSession({ sub, sid }) {
      const [row] = await sql`
        select u.id, u.email, u.name, u.role, u.plan, u.timezone from sessions s join users u on u.id = s.user_id
        where s.id = ${sid} and s.user_id = ${Number(sub)} and s.expires_at > now() and u.is_active`;
      return row ?? null;
    },
    async findTask(id, userId) {
      const [row] = await sql`
        select id, user_id as "userId", name, description, prompt, scheduled_for as "scheduledFor",
          next_execution_at as "nextExecutionAt", recurrence, recurrence_pattern as "recurrencePattern", timezone,
          ai_model as "aiModel", max_tokens as "maxTokens", temperature, status, execution_count as "executionCount",
          last_execution_at as "lastExecutionAt", attachment_ids as attachments, created_at as "createdAt",
          updated_at as "updatedAt"
        from tasks where id = ${id} and user_id = ${userId}`;
      return row ?? null;
    },
  };
}

/** High enough that the limiters count but never refuse. */
export const LIMIT = { max: 100_000_000, windowMs: 60_000 } as const;

export const printReady = (port: number) => console.log(`ready at http://127.0.0.1:${port}`);

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(0));
