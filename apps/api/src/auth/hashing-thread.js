import { constants, getPriority, platform, setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { hashSync, verifySync } from '@node-rs/argon2';

// A thread of `hashing.ts`. Plain JavaScript: to strip types, each of them would hold a compiler of 10 MB.

// Only where it is this thread's priority and not that of the process; one that is lower may not be raised.
if (platform() === 'linux') setPriority(Math.max(getPriority(), constants.priority.PRIORITY_BELOW_NORMAL));

parentPort?.on('message', ({ password, parameters, passwordHash }) => {
  parentPort?.postMessage(
    passwordHash === undefined ? hashSync(password, parameters) : verifySync(passwordHash, password),
  );
});
