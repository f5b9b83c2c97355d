import type { answers as en } from '../en/answers.ts';
import { formats } from './formats.ts';

export const answers: typeof en = {
  table: 'Tabela',
  none: 'nenhum',
  yes: 'sim',
  no: 'não',
  moreSources: (sources) => formats.count(sources, 'outra fonte', 'outras fontes'),
};
