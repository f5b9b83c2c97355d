import { createVerifier } from 'fast-jwt';
import postgres from 'postgres';

/** As many connections as the API has. */
const CONNECTIONS = 20;

/** What every HTTP baseline does, so that only the framework and its rate limiter differ. */
export interface SessionAndTask {
  /** Reads a bearer token; throws when it is none of ours. */
  verify(authorization: string | undefined): Claims;
  /** One indexed select: the session with its user; null when there is none. */
  findSession(claims: Claims): Promise<Record<string, unknown> | null>;
  /** One indexed select: the task, with the fields that Carillon answers. */
  findTask(id: number, userId: number): Promise<Record<string, unknown> | null>;
}

export interface Claims {
  sub: string;
  sid: string;
}

/** Over the tables that Carillon has, through postgres.js at its defaults: prepared statements, pipelined. */
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

/** More than any load sends in a minute: the limiter counts and lets through, as Carillon's does. */
export const LIMIT = { max: 100_000_000, windowMs: 60_000 } as const;

/** The line that `startProcess` waits for. */
export const printReady = (port: number) => console.log(`ready at http://127.0.0.1:${port}`);

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(0));
