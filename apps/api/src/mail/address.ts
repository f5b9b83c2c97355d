export const normalizeEmail = (address: string): string => address.trim().toLowerCase();
