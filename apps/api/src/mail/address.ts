/** The stored form of an e-mail address: without surrounding space, in lower case. */
export const normalizeEmail = (address: string): string => address.trim().toLowerCase();
