import { createHash } from 'node:crypto';

/** Long enough for production, and the same in each run. */
const secret = (name: string) => createHash('sha256').update(name).digest('base64');

/** The settings that production requires. */
export const PRODUCTION_ENV = {
  NODE_ENV: 'production',
  JWT_SECRET: secret('sessions'),
  ENCRYPTION_KEY: secret('encryption'),
  CRON_SECRET: secret('scheduler'),
  ADMIN_KEY: secret('admin'),
  AI_BASE_URL: 'offline',
  SMTP_URL: 'smtp://mail.test',
  STORAGE_DRIVER: 'disk',
};
