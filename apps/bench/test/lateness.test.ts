import t from 'tap';
import { toLateness } from '../src/benchmarks/lateness/arrivals.ts';

t.test('A job that a queue delivers twice counts with its first arrival', async (t) => {
  const arrivals = [
    { prompt: 'due at 1000', monotonicMs: 4 },
    { prompt: 'due at 1030', monotonicMs: 31 },
    { prompt: 'due at 1000', monotonicMs: 8000 },
  ];
  const readDueAt = (prompt: string) => Number(prompt.slice('due at '.length));
  t.strictSame(toLateness(arrivals, readDueAt, 1000.5), [4.5, 1.5]);
});
