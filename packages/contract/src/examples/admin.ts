import type * as audit from '../admin/audit.ts';
import type * as providers from '../admin/providers.ts';
import type * as settings from '../admin/settings.ts';
import type * as stats from '../admin/stats.ts';
import type * as accounts from '../admin/users.ts';
import type * as cron from '../cron.ts';
import type * as health from '../health.ts';
import type { ExamplesFor } from './example.ts';
import { alice, CREATED, ENDED, NOW, REGISTERED, success, TRIAL_END } from './fixtures.ts';

const { id, identityUserId, email, name, role, isActive, timezone, trialEndsAt, createdAt } = alice;
const account = { id, identityUserId, email, name, role, isActive, trialEndsAt, createdAt };
const NOT_FOUND = { 404: 'User not found' };
const LAST_ADMIN = { 409: 'This is the last active admin.' };
const systemSettings = {
  trialDurationDays: 14,
  maxTasksPerUser: 100,
  maxExecutionsPerDay: 500,
  defaultModel: 'openai/gpt-5-mini',
  maintenanceMode: false,
};

const provider = {
  id: '0b1d7c52-6f0a-4f57-9a43-8c2f1e7d5a90',
  name: 'local',
  kind: 'openai',
  baseUrl: 'http://127.0.0.1:11434/v1',
  hasApiKey: false,
  maxConcurrent: 2,
  source: 'settings',
  createdAt: CREATED,
  updatedAt: CREATED,
} as const;
const PROVIDER_NOT_FOUND = { 404: 'Provider not found' };

export const adminExamples: ExamplesFor<typeof accounts> &
  ExamplesFor<typeof cron> &
  ExamplesFor<typeof health> &
  ExamplesFor<typeof audit> &
  ExamplesFor<typeof settings> &
  ExamplesFor<typeof providers> &
  ExamplesFor<typeof stats> = {
  listUsers: {
    query: { search: 'alice', isActive: true, limit: 50 },
    response: {
      200: {
        success,
        data: {
          users: [{ ...account, stats: { totalTasks: 1, totalExecutions: 1 } }],
          pagination: { total: 1, limit: 50, offset: 0, pages: 1 },
        },
      },
    },
  },
  getAccount: {
    params: { id },
    response: {
      200: {
        success,
        user: {
          ...account,
          timezone,
          updatedAt: REGISTERED,
          stats: { ...alice.stats, failedExecutions: 0 },
          recentActivity: [
            { type: 'execution.completed', timestamp: ENDED, details: { executionId: 1207, taskId: 42 } },
            { type: 'task.created', timestamp: CREATED, details: { taskId: 42, name: 'Morning sentence' } },
          ],
        },
      },
    },
    errors: NOT_FOUND,
  },
  changeAccount: {
    params: { id },
    body: { plan: 'pro' },
    response: { 200: { success, user: { id, role, isActive, trialEndsAt: TRIAL_END, updatedAt: NOW } } },
    errors: { ...NOT_FOUND, ...LAST_ADMIN },
  },
  deleteAccount: {
    params: { id },
    response: { 200: { success, message: 'The account and all its data are deleted.' } },
    errors: { ...NOT_FOUND, ...LAST_ADMIN },
  },
  getSecurity: { response: { 200: { success, secondFactor: 'off' } } },
  changeSecurity: { body: { secondFactor: 'admins' }, response: { 200: { success, secondFactor: 'admins' } } },
  getSettings: { response: { 200: { success, settings: systemSettings } } },
  changeSettings: {
    body: { maintenanceMode: true },
    response: { 200: { success, settings: { maintenanceMode: true, updatedAt: NOW } } },
  },
  listProviders: { response: { 200: { success, providers: [provider] } } },
  createProvider: {
    body: { name: 'local', kind: 'openai', baseUrl: 'http://127.0.0.1:11434/v1', maxConcurrent: 2 },
    response: { 201: { success, provider } },
    errors: {
      402: {
        success: false,
        error: 'Quota exceeded',
        message: 'There can be 5 providers.',
        details: { resource: 'providers', used: 5, limit: 5, resetAt: null },
      },
      409: 'Another provider has the name "local".',
    },
  },
  changeProvider: {
    params: { id: provider.id },
    body: { maxConcurrent: 4 },
    response: { 200: { success, provider: { ...provider, maxConcurrent: 4, updatedAt: NOW } } },
    errors: { ...PROVIDER_NOT_FOUND, 409: 'Another provider has the name "local".' },
  },
  deleteProvider: {
    params: { id: provider.id },
    response: { 200: { success, message: 'The provider is deleted.' } },
    errors: { ...PROVIDER_NOT_FOUND, 409: 'This is the default provider. Delete the other ones first.' },
  },
  testProvider: {
    body: { id: provider.id, model: 'llama3.2' },
    response: { 200: { success, ok: true, model: 'llama3.2', ms: 412, message: 'ok' } },
    errors: PROVIDER_NOT_FOUND,
  },
  listAudit: {
    query: { userId: id, kind: 'user.changed', limit: 50 },
    response: {
      200: {
        success,
        entries: [
          {
            id: 88,
            at: NOW,
            kind: 'user.changed',
            actorId: 1,
            actorEmail: 'ada@example.com',
            userId: id,
            details: { before: { plan: 'trial' }, after: { plan: 'pro' } },
            address: '203.0.113.9',
            requestId: '9d3c1f0e-2b6a-4f57-8c8e-6a1d5b7e9f20',
          },
        ],
        pagination: { total: 1, limit: 50, offset: 0, hasMore: false, nextCursor: null },
      },
    },
  },
  getStats: {
    response: {
      200: {
        users: { total: 2, active: 2, inactive: 0, newLast30Days: 1 },
        tasks: { total: 1, active: 1, inactive: 0 },
        executions: {
          total: 1,
          last30Days: 1,
          byStatus: { completed: 1, failed: 0, pending: 0, running: 0 },
          successRate: 100,
        },
        coupons: { total: 1, active: 1, inactive: 0 },
        topUsers: [{ userId: id, userName: name, userEmail: email, executionCount: 1 }],
      },
    },
  },
  runScheduler: {
    headers: { prefer: 'respond-async' },
    response: { 200: { success, processed: 12, failed: 1, duration: 3_904 } },
    errors: { 401: 'The scheduler secret is missing or wrong.' },
  },
  getHealth: { response: { 200: { status: 'ok', timestamp: NOW, version: '0.1.0', uptime: 63_107 } } },
  getReadiness: {
    response: { 200: { status: 'ready', checks: { database: 'ok', migrations: 'ok', worker: 'ok', scheduler: 'ok' } } },
    errors: {
      503: {
        status: 'not_ready',
        checks: { database: 'failed', migrations: 'unknown', worker: 'ok', scheduler: 'unknown' },
        reason: 'The database is not available: it refuses connections (ECONNREFUSED).',
      },
    },
  },
  getLiveness: { response: { 200: { status: 'live' } } },
};
