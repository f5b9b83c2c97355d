import t from 'tap';
import { toLateness } from '../src/benchmarks/lateness.ts';

t.test('A job that a queue delivers twice counts with its first arrival', async (t) => {
  const arrivals = [
    { prompt: 'due at 1000', at: 1004 },
    { prompt: 'due at 1030', at: 1031 },
    { prompt: 'due at 1000', at: 9000 },
  ];
  t.strictSame(toLateness(arrivals), [4, 1]);
});
