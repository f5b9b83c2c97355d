import { createHash, randomBytes } from 'node:crypto';

const SECRET_BYTES = 32;
const SECRET = /^[\w-]{43}$/;

/** 256 random bits in base64url. */
export const generateFeedSecret = (): string => randomBytes(SECRET_BYTES).toString('base64url');

export const isFeedSecret = (text: string): boolean => SECRET.test(text);

export const hashFeedSecret = (secret: string): string => createHash('sha256').update(secret).digest('hex');
