import type { Benchmark } from '../benchmark.ts';
import {
  compareWithMeasured,
  formatCapacities,
  formatCatchUps,
  formatCompared,
  predictCapacities,
  predictCatchUps,
} from '../simulation/predictions.ts';

export const simulate: Benchmark = {
  about:
    'what 1 to 64 API processes and 1 to 3 databases carry, computed from the processor times of RESULTS.md: the tables of docs/operating/scaling.md',
  async run() {
    const tables = [
      formatCompared(compareWithMeasured()),
      formatCapacities(predictCapacities()),
      formatCatchUps(predictCatchUps()),
    ];
    for (const table of tables) console.log(`\n${table.join('\n')}`);
    return [];
  },
};
