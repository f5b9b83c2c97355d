import { constants, getPriority, platform, setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { hashSync, type Options, verifySync } from '@node-rs/argon2';

/** A password to hash with `parameters`, or to compare with what was hashed as `passwordHash`. */
export type HashJob = { password: string } & ({ parameters: Options } | { passwordHash: string });

// Only where it is this thread's priority and not that of the process; one that is lower may not be raised.
if (platform() === 'linux') setPriority(Math.max(getPriority(), constants.priority.PRIORITY_BELOW_NORMAL));

parentPort?.on('message', (job: HashJob) => {
  const { password } = job;
  parentPort?.postMessage(
    'passwordHash' in job ? verifySync(job.passwordHash, password) : hashSync(password, job.parameters),
  );
});
