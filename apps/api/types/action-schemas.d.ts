// Written by `pnpm docs:generate` from packages/contract/src/actions: change these. Clients need no other package.

export interface ActionInputs {
  login: {
    email: string;
    password: string;
  };
  register: {
    name: string;
    email: string;
    /**
     * At least 8 characters with an upper-case letter, a lower-case letter and a digit
     */
    password: string;
    /**
     * IANA time zone name
     */
    timezone?: string;
  };
  createTask: {
    name: string;
    description?: string | null;
    prompt: string;
    model: string;
    /**
     * Five-field cron expression
     */
    recurrence: string;
    active?: boolean;
    webhookUrl?: string | null;
    notificationEmail?: string | null;
  };
  updateTask: {
    name?: string;
    description?: string | null;
    prompt?: string;
    model?: string;
    /**
     * Five-field cron expression
     */
    recurrence?: string;
    active?: boolean;
    webhookUrl?: string | null;
    notificationEmail?: string | null;
    id: string;
  };
  duplicateTask: {
    name?: string;
  };
  backfillTask: {
    /**
     * The start of the period
     */
    from: string;
    /**
     * Its end, which is part of it, and not in the future
     */
    to: string;
  };
  getExecutions: {
    taskId?: string;
    status?: 'PENDING' | 'RUNNING' | 'SUCCESS' | 'FAILED';
    /**
     * A day (2026-11-20) or an ISO 8601 date-time with Z or an offset
     */
    startDate?: string;
    /**
     * A day (2026-11-20) or an ISO 8601 date-time with Z or an offset
     */
    endDate?: string;
    /**
     * Default: 20
     */
    limit?: number;
    /**
     * Default: 0
     */
    offset?: number;
  };
  updateProfile: {
    name?: string;
    email?: string;
    /**
     * IANA time zone name
     */
    timezone?: string | null;
    notificationPreferences?: {
      email?: boolean;
      webhook?: boolean;
    };
  };
  changePassword: {
    currentPassword: string;
    /**
     * At least 8 characters with an upper-case letter, a lower-case letter and a digit
     */
    newPassword: string;
  };
  updateSettings: {
    /**
     * The user's own key for the AI service; encrypted at rest and never returned. Null removes it
     */
    modelRouterApiKey?: string | null;
    webhookUrl?: string | null;
    /**
     * Duplicates are ignored; an empty list for none
     *
     * @maxItems 10
     */
    notificationEmails?: string[];
  };
  listUsers: {
    /**
     * Default: 1
     */
    page?: number;
    /**
     * Default: 50
     */
    limit?: number;
    /**
     * Part of the e-mail address or the name
     */
    search?: string;
    role?: 'USER' | 'ADMIN';
  };
  createCoupon: {
    /**
     * Stored in upper case. Default: a random code that cannot be guessed
     */
    code?: string;
    /**
     * Null for no limit
     */
    maxUses?: number | null;
    /**
     * ISO 8601 with Z or an offset
     */
    expiresAt?: string | null;
    type?: 'TRIAL_EXTENSION';
    /**
     * Days. Default: `trialDurationDays` of the system settings
     */
    value?: number;
  };
  createWebhook: {
    url: string;
    /**
     * Duplicates are ignored
     *
     * @minItems 1
     */
    events: (
      | 'task.created'
      | 'task.updated'
      | 'task.deleted'
      | 'task.started'
      | 'task.completed'
      | 'task.failed'
      | 'execution.started'
      | 'execution.completed'
      | 'execution.failed'
      | 'task.changed'
      | 'task.overdue'
      | 'task.failing'
      | 'task.recovered'
      | 'task.expensive'
      | 'task.slow'
      | 'usage.alert'
      | 'scheduler.silent'
      | 'test'
    )[];
    description?: string | null;
    /**
     * Default: a generated secret. After `whsec_` it must be padded base64. It enables the inbound URL if it has 32 to 100 letters, digits, `-`, `.`, `_` and `~`
     */
    secret?: string;
  };
}

export interface ActionResults {
  login: {
    /**
     * The session token, for the cookie or a bearer header
     */
    session: string;
    expiresAt: string;
    user: {
      id: string;
      email: string;
      name: string;
      role: 'USER' | 'ADMIN';
    };
  };
  register: {
    id: string;
    email: string;
    name: string;
    createdAt: string;
  };
  /**
   * No data
   */
  logout: null;
  createTask: {
    id: string;
    name: string;
    createdAt: string;
  };
  updateTask: {
    id: string;
    name: string;
    description: string | null;
    prompt: string;
    model: string;
    /**
     * The cron expression; `once`, `daily`, `weekly` or `monthly` if there is none
     */
    recurrence: string;
    active: boolean;
    status: 'ACTIVE' | 'PAUSED' | 'COMPLETED' | 'FAILED';
    webhookUrl: string | null;
    notificationEmail: string | null;
    nextExecutionAt: string | null;
    createdAt: string;
    updatedAt: string;
  };
  /**
   * No data
   */
  deleteTask: null;
  toggleTaskActive: {
    id: string;
    name: string;
    description: string | null;
    prompt: string;
    model: string;
    /**
     * The cron expression; `once`, `daily`, `weekly` or `monthly` if there is none
     */
    recurrence: string;
    active: boolean;
    status: 'ACTIVE' | 'PAUSED' | 'COMPLETED' | 'FAILED';
    webhookUrl: string | null;
    notificationEmail: string | null;
    nextExecutionAt: string | null;
    createdAt: string;
    updatedAt: string;
  };
  skipNextRun: {
    /**
     * The instant of the skipped run
     */
    skipped: string;
    task: {
      id: string;
      name: string;
      description: string | null;
      prompt: string;
      model: string;
      /**
       * The cron expression; `once`, `daily`, `weekly` or `monthly` if there is none
       */
      recurrence: string;
      active: boolean;
      status: 'ACTIVE' | 'PAUSED' | 'COMPLETED' | 'FAILED';
      webhookUrl: string | null;
      notificationEmail: string | null;
      nextExecutionAt: string | null;
      createdAt: string;
      updatedAt: string;
    };
  };
  backfillTask: {
    /**
     * How many runs are queued
     */
    queued: number;
  };
  executeTask: {
    executionId: string;
    status: 'PENDING';
    startedAt: string;
  };
  duplicateTask: {
    id: string;
    name: string;
    description: string | null;
    prompt: string;
    model: string;
    /**
     * The cron expression; `once`, `daily`, `weekly` or `monthly` if there is none
     */
    recurrence: string;
    active: boolean;
    status: 'ACTIVE' | 'PAUSED' | 'COMPLETED' | 'FAILED';
    webhookUrl: string | null;
    notificationEmail: string | null;
    nextExecutionAt: string | null;
    createdAt: string;
    updatedAt: string;
  };
  getExecutions: {
    executions: {
      id: string;
      taskId: string;
      status: 'PENDING' | 'RUNNING' | 'SUCCESS' | 'FAILED';
      startedAt: string | null;
      completedAt: string | null;
      /**
       * Milliseconds
       */
      duration: number | null;
      result: string | null;
      error: string | null;
    }[];
    total: number;
    hasMore: boolean;
  };
  getExecutionDetails: {
    id: string;
    taskId: string;
    status: 'PENDING' | 'RUNNING' | 'SUCCESS' | 'FAILED';
    startedAt: string | null;
    completedAt: string | null;
    /**
     * Milliseconds
     */
    duration: number | null;
    result: string | null;
    error: string | null;
    task: {
      id: string;
      name: string;
      prompt: string;
      model: string;
    };
    logs: {
      timestamp: string;
      message: string;
    }[];
    metadata: {
      /**
       * The model that answered; null before that
       */
      model: string | null;
      tokens: {
        prompt: number;
        completion: number;
        total: number;
      } | null;
      /**
       * USD
       */
      cost: number | null;
    };
  };
  retryExecution: {
    executionId: string;
    status: 'PENDING' | 'RUNNING';
    startedAt: string;
  };
  cancelExecution: {
    id: string;
    taskId: string;
    status: 'PENDING' | 'RUNNING' | 'SUCCESS' | 'FAILED';
    startedAt: string | null;
    completedAt: string | null;
    /**
     * Milliseconds
     */
    duration: number | null;
    result: string | null;
    error: string | null;
  };
  updateProfile: {
    id: string;
    name: string;
    email: string;
    /**
     * The new e-mail address until it is confirmed; null if there is none
     */
    pendingEmail: string | null;
    timezone: string | null;
    notificationPreferences: {
      email: boolean;
      webhook: boolean;
    };
    updatedAt: string;
  };
  /**
   * No data
   */
  changePassword: null;
  updateSettings: {
    /**
     * Receives `task.completed`, `task.failed` and `usage.alert` through a webhook of its own
     */
    webhookUrl: string | null;
    /**
     * The id of that webhook, for its log, its secret and its test
     */
    webhookId: string | null;
    /**
     * Receive notifications in addition to the address of the account, once they are confirmed
     */
    notificationEmails: string[];
    hasModelRouterApiKey: boolean;
  };
  getSystemStats: {
    users: {
      total: number;
      active: number;
      new24h: number;
    };
    tasks: {
      total: number;
      active: number;
      paused: number;
    };
    executions: {
      last24h: number;
      success: number;
      failed: number;
      /**
       * Percent, 0–100, at most two decimals
       */
      successRate: number;
    };
  };
  listUsers: {
    users: {
      id: string;
      identityUserId: string;
      email: string;
      name: string;
      role: 'USER' | 'ADMIN';
      isActive: boolean;
      trialEndsAt: string | null;
      createdAt: string;
      stats: {
        totalTasks: number;
        totalExecutions: number;
      };
    }[];
    total: number;
    page: number;
    pages: number;
  };
  updateUserRole: {
    id: string;
    role: 'USER' | 'ADMIN';
    isActive: boolean;
    trialEndsAt: string | null;
    updatedAt: string;
  };
  createCoupon: {
    id: string;
    code: string;
    type: string;
    value: number;
    isActive: boolean;
    maxUses: number | null;
    usedCount: number;
    expiresAt: string | null;
    createdByEmail: string;
    createdAt: string;
  };
  createWebhook: {
    id: string;
    userId: string;
    url: string;
    secret: string;
    events: (
      | 'task.created'
      | 'task.updated'
      | 'task.deleted'
      | 'task.started'
      | 'task.completed'
      | 'task.failed'
      | 'execution.started'
      | 'execution.completed'
      | 'execution.failed'
      | 'task.changed'
      | 'task.overdue'
      | 'task.failing'
      | 'task.recovered'
      | 'task.expensive'
      | 'task.slow'
      | 'usage.alert'
      | 'scheduler.silent'
      | 'test'
    )[];
    isActive: boolean;
    createdAt: string;
  };
  testWebhook: {
    id: string;
    deliveryId: string;
    webhookId: string;
    event:
      | 'task.created'
      | 'task.updated'
      | 'task.deleted'
      | 'task.started'
      | 'task.completed'
      | 'task.failed'
      | 'execution.started'
      | 'execution.completed'
      | 'execution.failed'
      | 'task.changed'
      | 'task.overdue'
      | 'task.failing'
      | 'task.recovered'
      | 'task.expensive'
      | 'task.slow'
      | 'usage.alert'
      | 'scheduler.silent'
      | 'test';
    url: string;
    statusCode: number | null;
    /**
     * Milliseconds
     */
    responseTime: number;
    attempt: number;
    /**
     * Whether the receiver accepted the delivery
     */
    success: boolean;
    error: string | null;
    timestamp: string;
  };
}

export type ActionError =
  | {
      success: false;
      error: 'Validation error';
      /**
       * Messages by field
       */
      details: {
        [k: string]: string[];
      };
      code?: undefined;
    }
  | {
      success: false;
      error: 'Unauthorized';
      code: 'AUTH_REQUIRED';
    }
  | {
      success: false;
      error: 'Forbidden';
      code: 'INSUFFICIENT_PERMISSIONS';
    }
  | {
      success: false;
      error: 'Too many requests';
      code: 'RATE_LIMIT_EXCEEDED';
      /**
       * Seconds
       */
      retryAfter: number;
      details: {
        limit: number;
        remaining: number;
        /**
         * Seconds since the epoch, rounded up
         */
        reset: number;
        /**
         * Seconds
         */
        resetIn: number;
        /**
         * Seconds
         */
        retryAfter: number;
      };
    }
  | {
      success: false;
      error: 'Quota exceeded';
      code: 'QUOTA_EXCEEDED';
      message: string;
      details: {
        resource: string;
        used: number | null;
        limit: number | null;
        resetAt: string | null;
      };
    }
  | {
      success: false;
      error: string;
      code: 'INVALID_CREDENTIALS' | 'NOT_FOUND' | 'CONFLICT';
    }
  | {
      success: false;
      error: 'Service unavailable';
      code: 'SERVICE_UNAVAILABLE';
      message: string;
    }
  | {
      success: false;
      error: 'Internal error';
      code: 'INTERNAL_ERROR';
    };
