import { formats } from './formats.ts';

/** The search over tasks, runs and pages. */
export const search = {
  title: 'Search',
  label: 'Search tasks, answers and pages',
  hint: 'Tasks are found by name, runs by words of their answers and prompts.',
  count: (found: number) => formats.count(found, 'result', 'results'),
  nothing: (q: string) => `Nothing found for “${q}”.`,
  pages: 'Pages',
  allRuns: 'All matching runs',
};
