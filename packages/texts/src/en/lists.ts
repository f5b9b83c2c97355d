/** What lists of all kinds have. */
export const lists = {
  pages: 'Pages',
  firstPage: 'First page',
  nextPage: 'Next page',
  newestFirst: (size: number) => `Newest first, ${size} per page`,
  today: 'Today',
  timesIn: (timeZone: string) => `Times in ${timeZone}`,
  /** The heading of a column of buttons, for screen readers. */
  actions: 'Actions',
};
