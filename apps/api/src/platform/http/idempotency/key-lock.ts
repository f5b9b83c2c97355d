import { randomUUID } from 'node:crypto';
import { preparedQuery } from '@carillon/db';
import { sql } from 'drizzle-orm';
import type { Context } from '../../../context.ts';

/** For requests that only use the database. Connections that are gone end a lock earlier. */
const LEASE_MS = 30_000;
const HOUR_MS = 60 * 60_000;

/** A request with an `Idempotency-Key`, before its user is known. */
export interface KeyLockRequest {
  /** SHA-256 of the method, the path and the key. */
  scope: string;
  token: string;
  /** Set for a handler that calls external services: its lock outlives the connection to the database. */
  leaseMs: number | null;
  /** How long the answer is kept; null for the setting of the installation. */
  keepMs: number | null;
}

/** The answer of an earlier request, encrypted. */
export interface EncryptedResponse {
  status: number;
  location: string | null;
  ciphertext: string;
}

export interface KeyLock {
  id: string;
  userId: number;
  token: string;
  /** `locked` by this request, `running` in another one, or answered before. */
  state: 'locked' | 'running' | EncryptedResponse;
}

export const createKeyLockRequest = (
  scope: string,
  leaseMs: number | null,
  keepMs: number | null = null,
): KeyLockRequest => ({
  scope,
  token: randomUUID(),
  leaseMs,
  keepMs,
});

const value = (name: string, type: string) => sql`${sql.placeholder(name)}::${sql.raw(type)}`;
const now = value('lockNow', 'timestamptz');
const newLock = {
  token: value('lockToken', 'uuid'),
  leaseUntil: sql`clock_timestamp() + make_interval(secs => ${value('lockLeaseSeconds', 'float8')})`,
  backendPid: sql`case when ${value('lockFollowsConnection', 'boolean')} then pg_backend_pid() end`,
  expiresAt: value('lockExpiresAt', 'timestamptz'),
};

/** The process has ended with its connections, or does not answer any more. A new connection may have an old pid. */
const IS_ABANDONED = sql`k.status is null and (k.lease_until < now() or (k.backend_pid is not null and not exists (
  select from pg_stat_activity a where a.pid = k.backend_pid and coalesce(a.backend_start <= k.claimed_at, true))))`;

interface FoundKeyLock {
  known: { status: number | null; location: string | null; ciphertext: string | null; isCurrent: boolean } | null;
  locked: { isMine: boolean };
}

function toLockValues(ctx: Pick<Context, 'now' | 'config'>, { scope, token, leaseMs, keepMs }: KeyLockRequest) {
  const at = ctx.now().getTime();
  return {
    lockScope: scope,
    lockToken: token,
    lockNow: new Date(at).toISOString(),
    lockLeaseSeconds: (leaseMs ?? LEASE_MS) / 1000,
    lockFollowsConnection: leaseMs === null,
    lockExpiresAt: new Date(at + (keepMs ?? ctx.config.retention.idempotencyHours * HOUR_MS)).toISOString(),
  };
}

function toKeyLock(userId: number, { scope, token }: KeyLockRequest, { known, locked }: FoundKeyLock): KeyLock {
  const id = `${userId}:${scope}`;
  if (locked.isMine) return { id, userId, token, state: 'locked' };
  const { status = null, location = null, ciphertext = null, isCurrent = false } = known ?? {};
  if (!isCurrent || status === null || ciphertext === null) return { id, userId, token, state: 'running' };
  return { id, userId, token, state: { status, location, ciphertext } };
}

/**
 * Waits for no lock of a request: a key whose answer is being committed is running. On its own connection, because a new
 * lock waits for the deletion of its user.
 */
const lockQuery = preparedQuery((db) => {
  const caller = db.$with('caller', { id: sql<number>`id`.as('id') }).as(sql`select ${value('userId', 'int')} as id`);
  const known = db
    .$with('known', {
      status: sql<number | null>`status`.as('status'),
      location: sql<string | null>`location`.as('location'),
      ciphertext: sql<string | null>`answer_encrypted`.as('answer_encrypted'),
      isCurrent: sql<boolean>`is_current`.as('is_current'),
    })
    .as(
      sql`select k.id, k.status, k.location, k.answer_encrypted, k.expires_at > ${now} as is_current
        from idempotency_keys k join caller c on k.id = c.id || ':' || ${value('lockScope', 'text')}`,
    );
  const inserted = db.$with('inserted', {}).as(
    sql`insert into idempotency_keys (id, user_id, claim_token, claimed_at, lease_until, backend_pid, expires_at)
      select c.id || ':' || ${value('lockScope', 'text')}, c.id, ${newLock.token}, clock_timestamp(),
        ${newLock.leaseUntil}, ${newLock.backendPid}, ${newLock.expiresAt}
      from caller c where not exists (select from known) on conflict do nothing returning id`,
  );
  const takenOver = db.$with('taken_over', {}).as(
    sql`update idempotency_keys set claim_token = ${newLock.token}, claimed_at = clock_timestamp(),
        lease_until = ${newLock.leaseUntil}, backend_pid = ${newLock.backendPid},
        expires_at = ${newLock.expiresAt}, status = null, location = null, answer_encrypted = null,
        answer_bytes = 0
      where id in (
        select k.id from idempotency_keys k join known on known.id = k.id
        where k.expires_at <= ${now} or (${IS_ABANDONED}) for no key update of k skip locked)
      returning id`,
  );
  const locked = db
    .$with('locked', { isMine: sql<boolean>`is_mine`.as('is_mine') })
    .as(sql`select exists (select from inserted) or exists (select from taken_over) as is_mine`);
  return db
    .with(caller, known, inserted, takenOver, locked)
    .select()
    .from(locked)
    .leftJoin(known, sql`true`)
    .prepare('lock_key');
});

/** Locks the key for a user. */
export async function lockKey(ctx: Context, userId: number, request: KeyLockRequest): Promise<KeyLock> {
  const [found] = await lockQuery(ctx.db).execute({ userId, ...toLockValues(ctx, request) });
  return toKeyLock(userId, request, found as FoundKeyLock);
}
