import type * as cron from '../cron.ts';
import type * as health from '../health.ts';
import type { ExamplesFor } from './shape.ts';
import { NOW, success } from './story.ts';

/** What those who run the service call. */
export const operationExamples: ExamplesFor<typeof cron> & ExamplesFor<typeof health> = {
  runScheduler: {
    headers: { prefer: 'respond-async' },
    response: { 200: { success, processed: 12, failed: 1, duration: 3_904, nextDueAt: '2026-11-20T09:16:00.000Z' } },
    refused: { 401: 'The scheduler secret is missing or wrong.' },
  },
  getHealth: { response: { 200: { status: 'ok', timestamp: NOW, version: '0.1.0', uptime: 63_107 } } },
  getReadiness: {
    response: { 200: { status: 'ready', checks: { database: 'ok', migrations: 'ok', worker: 'ok' } } },
    refused: { 503: { status: 'not_ready', checks: { database: 'failed', migrations: 'unknown', worker: 'ok' } } },
  },
  getLiveness: { response: { 200: { status: 'live' } } },
};
