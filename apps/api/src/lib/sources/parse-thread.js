import { constants, getPriority, platform, setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { parseDocument } from './parse-document.js';

// A thread of `parser.ts`. Plain JavaScript: to strip types, each thread would load a compiler of 10 MB.

// Only Linux has a priority for each thread; a lower one may not be raised.
if (platform() === 'linux') setPriority(Math.max(getPriority(), constants.priority.PRIORITY_BELOW_NORMAL));

/** Compiles the parsers, so that the first document does not pay for it. */
const WARM_UP = `<!doctype html><title>.</title><main>${'<p>A sentence, long enough to be read. '.repeat(40)}</main>`;
parseDocument({ bytes: Buffer.from(WARM_UP), contentType: 'text/html', url: 'http://localhost/' });

parentPort?.on('message', (job) => parentPort?.postMessage(parseDocument(job)));
parentPort?.postMessage('ready');
