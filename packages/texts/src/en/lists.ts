import { formats } from './formats.ts';

/** What lists of all kinds have. */
export const lists = {
  pages: 'Pages',
  firstPage: 'First page',
  previousPage: 'Previous page',
  nextPage: 'Next page',
  range: (from: number, to: number, total: number) =>
    `${formats.number(from)} to ${formats.number(to)} of ${formats.number(total)}`,
  newestFirst: (size: number) => `Newest first, ${size} per page`,
  today: 'Today',
  timesIn: (timeZone: string) => `Times in ${timeZone}`,
  /** The heading of a column of buttons, for screen readers. */
  actions: 'Actions',
  asCsv: 'Download as CSV',
  searchTitle: 'Search',
  searchLabel: 'Search tasks, answers and pages',
  searchHint: 'Tasks are found by name, runs by words of their answers and prompts.',
  found: (found: number) => formats.count(found, 'result', 'results'),
  nothingFound: (q: string) => `Nothing found for “${q}”.`,
  allMatchingRuns: 'All matching runs',
};
