/** A mail address that a user gives, as it is kept: without the space around it, in lower case (decisions §3). */
export const normalizeEmail = (address: string): string => address.trim().toLowerCase();
