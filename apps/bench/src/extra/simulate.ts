import type { Benchmark } from '../benchmark.ts';
import { compareWithMeasured, formatCapacities, formatCompared, predictCapacities } from '../simulation/predictions.ts';

export const simulate: Benchmark = {
  about:
    'what 1 to 64 API processes and 1 to 3 databases carry, computed from the processor times of RESULTS.md: the tables of docs/operating/scaling.md',
  async run() {
    for (const table of [formatCompared(compareWithMeasured()), formatCapacities(predictCapacities())]) {
      console.log(`\n${table.join('\n')}`);
    }
    return [];
  },
};
