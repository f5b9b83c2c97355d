import type { ReplicaState } from '@carillon/db';
import { describeTemporaryOutage } from '@carillon/db/temporary-outage';
import type { Logger } from 'pino';

/** Returns a function that logs once when a standby can no longer be read, and once when it can be again. */
export const logReplicaChanges =
  (log: Logger) =>
  ({ server, status, lagMs, error }: ReplicaState): void => {
    if (status === 'ready') log.info({ server }, 'a standby answers reads');
    else if (status === 'behind') log.warn({ server, lagMs }, 'a standby is too far behind: others answer its reads');
    else if (status === 'away') {
      const reason = describeTemporaryOutage(error) ?? undefined;
      log.warn({ server, reason, ...(!reason && { err: error }) }, 'a standby is away: others answer its reads');
    } else log.error({ server }, 'a server of DATABASE_READ_URL follows another primary: it is not read');
  };
