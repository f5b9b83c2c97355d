import { runBatched } from './batched-loop.ts';
import { COMPLETE, ENQUEUE, START } from './batched-statements.ts';

// The same writes as Carillon in batches, without limits, events, retries and recovery.
await runBatched({ enqueue: ENQUEUE, start: START, complete: COMPLETE });
