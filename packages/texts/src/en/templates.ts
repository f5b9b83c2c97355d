/** Templates of tasks. */
export const templates = {
  addressOf: (source: string) => `Address of the source ${source}`,
};
