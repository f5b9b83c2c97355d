import t from 'tap';
import { toLateness } from '../src/benchmarks/lateness.ts';

t.test('a job that a queue delivers twice is as late as the first time', async (t) => {
  const arrived = [
    { prompt: 'due at 1000', at: 1004 },
    { prompt: 'due at 1030', at: 1031 },
    { prompt: 'due at 1000', at: 9000 },
  ];
  t.strictSame(toLateness(arrived), [4, 1]);
});
