import { formats } from './formats.ts';

/** Inside an answer. */
export const answers = {
  table: 'Table',
  none: 'none',
  yes: 'yes',
  no: 'no',
  moreSources: (sources: number) => formats.count(sources, 'more source', 'more sources'),
};
