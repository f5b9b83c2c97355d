import { type Claims, createTokenCheck, openDatabase, type Row } from './server.ts';
import { SESSION, TASK } from './statements.ts';

/** Shared by the light HTTP baselines, so that only the framework and its rate limiter differ. */
export interface SessionAndTask {
  /** Throws unless it is a valid bearer token. */
  verify(authorization: string | undefined): Claims;
  /** Reads both at once, because the token has the id of the user. Null for what does not exist. */
  find(claims: Claims, taskId: number): Promise<{ session: Row | null; task: Row | null }>;
}

export async function createSessionAndTask(): Promise<SessionAndTask> {
  const query = await openDatabase();
  return {
    verify: createTokenCheck(),
    async find({ sub, sid }, taskId) {
      const userId = Number(sub);
      const [[session = null], [task = null]] = await Promise.all([
        query<Row>(SESSION, [sid, userId]),
        query<Row>(TASK, [taskId, userId]),
      ]);
      return { session, task };
    },
  };
}
