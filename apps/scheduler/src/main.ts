import { existsSync } from 'node:fs';
import { openLogDestination } from '@carillon/runtime';
import { pino } from 'pino';
import { startScheduler } from './scheduler.ts';
import { readSettings, SettingError } from './settings.ts';

if (existsSync('.env')) process.loadEnvFile('.env');
try {
  const { logLevel, ...settings } = readSettings(process.env);
  const log = pino({ level: logLevel, name: 'scheduler' }, await openLogDestination());
  const scheduler = startScheduler({ ...settings, log });
  const stop = async () => {
    log.info('stopping');
    await scheduler.stop();
    log.info('stopped');
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stop);
} catch (error) {
  if (!(error instanceof SettingError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
