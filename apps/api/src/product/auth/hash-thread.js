import { constants, getPriority, platform, setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { hashSync, verifySync } from '@node-rs/argon2';

// A thread of `hash-worker.ts`. Plain JavaScript: to strip types, each thread would load a compiler of 10 MB.

// Only Linux has a priority for each thread; a lower one may not be raised.
if (platform() === 'linux') setPriority(Math.max(getPriority(), constants.priority.PRIORITY_BELOW_NORMAL));

parentPort?.on('message', ({ password, parameters, passwordHash }) => {
  parentPort?.postMessage(
    passwordHash === undefined ? hashSync(password, parameters) : verifySync(passwordHash, password),
  );
});
