/** `%text%` for ILIKE, with the wildcards of the text itself escaped. */
export const containsPattern = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`;
