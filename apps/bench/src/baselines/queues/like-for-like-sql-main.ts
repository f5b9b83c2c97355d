import { runBatched } from './batched-loop.ts';
import { ENQUEUE } from './batched-statements.ts';
import { COMPLETE, START } from './like-for-like-statements.ts';

// Batched SQL that also keeps the limits, quotas and budgets, fences by token, and writes the events.
await runBatched({ enqueue: ENQUEUE, start: START, complete: COMPLETE });
