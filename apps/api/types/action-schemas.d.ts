// Written by `pnpm docs:generate` from packages/contract/src/actions: change these. Clients need no other package.
export type paths = Record<string, never>;
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        ActionTask: {
            id: string;
            name: string;
            description: string | null;
            prompt: string;
            model: string;
            /** @description The cron expression, or `once`, `daily`, `weekly` or `monthly` without one */
            recurrence: string;
            active: boolean;
            /** @enum {string} */
            status: "active" | "paused" | "completed" | "failed";
            webhookUrl: string | null;
            notificationEmail: string | null;
            /** Format: date-time */
            nextExecutionAt: string | null;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
        };
        ActionExecution: {
            id: string;
            taskId: string;
            /** @enum {string} */
            status: "PENDING" | "RUNNING" | "SUCCESS" | "FAILED";
            /** Format: date-time */
            startedAt: string | null;
            /** Format: date-time */
            completedAt: string | null;
            /** @description Milliseconds */
            duration: number | null;
            result: string | null;
            error: string | null;
        };
        ActionInputs: {
            login: {
                /** Format: email */
                email: string;
                /** Format: password */
                password: string;
            };
            register: {
                /** @description The name. Spaces at its ends are removed */
                name: string;
                /** Format: email */
                email: string;
                /**
                 * Format: password
                 * @description At least 8 characters with an upper-case letter, a lower-case letter and a digit
                 */
                password: string;
                /**
                 * Format: time-zone
                 * @description IANA time zone name
                 */
                timezone?: string;
            };
            createTask: {
                /** @description The name. Spaces at its ends are removed */
                name: string;
                description?: string | null;
                prompt: string;
                model: string;
                /** @description Five-field cron expression */
                recurrence: string;
                active?: boolean;
                /** Format: http-url */
                webhookUrl?: string | null;
                /** Format: email */
                notificationEmail?: string | null;
            };
            updateTask: {
                /** @description The name. Spaces at its ends are removed */
                name?: string;
                description?: string | null;
                prompt?: string;
                model?: string;
                /** @description Five-field cron expression */
                recurrence?: string;
                active?: boolean;
                /** Format: http-url */
                webhookUrl?: string | null;
                /** Format: email */
                notificationEmail?: string | null;
                id: string;
            };
            duplicateTask: {
                /** @description The name. Spaces at its ends are removed */
                name?: string;
            };
            backfillTask: {
                /**
                 * Format: date-time
                 * @description The start of the period
                 */
                from: string;
                /**
                 * Format: date-time
                 * @description Its end, which is part of it, and not in the future
                 */
                to: string;
            };
            getExecutions: {
                taskId?: string;
                /** @enum {string} */
                status?: "PENDING" | "RUNNING" | "SUCCESS" | "FAILED";
                /**
                 * Format: date-or-date-time
                 * @description A day (2026-11-20) or an ISO 8601 date-time with Z or an offset
                 */
                startDate?: string;
                /**
                 * Format: date-or-date-time
                 * @description A day (2026-11-20) or an ISO 8601 date-time with Z or an offset
                 */
                endDate?: string;
                /**
                 * @description The maximum number of entries on a page; more than 100 counts as 100
                 * @default 20
                 */
                limit?: number;
                /** @description Default: 0 */
                offset?: number;
            };
            updateProfile: {
                /** @description The name. Spaces at its ends are removed */
                name?: string;
                /** Format: email */
                email?: string;
                /**
                 * Format: time-zone
                 * @description IANA time zone name
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
                 * Format: password
                 * @description At least 8 characters with an upper-case letter, a lower-case letter and a digit
                 */
                newPassword: string;
            };
            updateSettings: {
                /** @description The user's own key for the AI service; encrypted at rest and never returned. Null removes it */
                modelRouterApiKey?: string | null;
                /** Format: http-url */
                webhookUrl?: string | null;
                /** @description Duplicates are ignored; an empty list for none */
                notificationEmails?: string[];
            };
            listUsers: {
                /** @description Default: 1 */
                page?: number;
                /**
                 * @description The maximum number of entries on a page; more than 100 counts as 100
                 * @default 50
                 */
                limit?: number;
                /** @description Part of the e-mail address or the name */
                search?: string;
                /** @enum {string} */
                role?: "USER" | "ADMIN";
            };
            createCoupon: {
                /** @description Stored in upper case. Default: a random code */
                code?: string;
                /** @description Null for no limit */
                maxUses?: number | null;
                /**
                 * Format: date-time
                 * @description ISO 8601 with Z or an offset
                 */
                expiresAt?: string | null;
                /** @enum {string} */
                type?: "TRIAL_EXTENSION";
                /** @description Days. Default: `trialDurationDays` of the system settings */
                value?: number;
            };
            createWebhook: {
                /** Format: http-url */
                url: string;
                /** @description Duplicates are ignored */
                events: ("task.created" | "task.updated" | "task.deleted" | "task.started" | "task.completed" | "task.failed" | "execution.started" | "execution.completed" | "execution.failed" | "task.changed" | "task.overdue" | "task.failing" | "task.recovered" | "task.expensive" | "task.slow" | "task.degraded" | "usage.alert" | "scheduler.silent" | "test")[];
                description?: string | null;
                /** @description Default: a generated secret. After `whsec_` it must be padded base64. It enables the inbound URL if it has 32 to 100 letters, digits, `-`, `.`, `_` and `~` */
                secret?: string;
            };
        };
        ActionResults: {
            login: {
                /** @description The session token, for the cookie or a bearer header */
                session: string;
                /** Format: date-time */
                expiresAt: string;
                user: {
                    id: string;
                    email: string;
                    name: string;
                    /** @enum {string} */
                    role: "USER" | "ADMIN";
                };
            };
            register: {
                id: string;
                email: string;
                name: string;
                /** Format: date-time */
                createdAt: string;
            };
            /** @description No data */
            logout: null;
            createTask: {
                id: string;
                name: string;
                /** Format: date-time */
                createdAt: string;
            };
            updateTask: components["schemas"]["ActionTask"];
            /** @description No data */
            deleteTask: null;
            toggleTaskActive: components["schemas"]["ActionTask"];
            skipNextRun: {
                /**
                 * Format: date-time
                 * @description The instant of the skipped run
                 */
                skipped: string;
                task: components["schemas"]["ActionTask"];
            };
            backfillTask: {
                /** @description How many runs are queued */
                queued: number;
            };
            executeTask: {
                executionId: string;
                /** @constant */
                status: "PENDING";
                /** Format: date-time */
                startedAt: string;
            };
            duplicateTask: components["schemas"]["ActionTask"];
            getExecutions: {
                executions: components["schemas"]["ActionExecution"][];
                total: number;
                hasMore: boolean;
            };
            getExecutionDetails: {
                id: string;
                taskId: string;
                /** @enum {string} */
                status: "PENDING" | "RUNNING" | "SUCCESS" | "FAILED";
                /** Format: date-time */
                startedAt: string | null;
                /** Format: date-time */
                completedAt: string | null;
                /** @description Milliseconds */
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
                    /** Format: date-time */
                    timestamp: string;
                    message: string;
                }[];
                metadata: {
                    /** @description The model that answered; before that, the model of the task */
                    model: string;
                    tokens: {
                        prompt: number;
                        completion: number;
                        total: number;
                    };
                    /** @description USD */
                    cost: number;
                };
            };
            retryExecution: {
                executionId: string;
                /** @enum {string} */
                status: "PENDING" | "RUNNING";
                /** Format: date-time */
                startedAt: string;
            };
            cancelExecution: components["schemas"]["ActionExecution"];
            updateProfile: {
                id: string;
                name: string;
                email: string;
                /** @description The new e-mail address until it is confirmed; null if there is none */
                pendingEmail: string | null;
                timezone: string | null;
                notificationPreferences: {
                    email: boolean;
                    webhook: boolean;
                };
                /** Format: date-time */
                updatedAt: string;
            };
            /** @description No data */
            changePassword: null;
            updateSettings: {
                /** @description Receives `task.completed`, `task.failed` and `usage.alert` through its webhook */
                webhookUrl: string | null;
                /** @description The id of that webhook, for its log, its secret and its test */
                webhookId: string | null;
                /** @description Receive notifications in addition to the account's address, once they are confirmed */
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
                    /** @description Percent, 0–100, at most two decimals */
                    successRate: number;
                };
            };
            listUsers: {
                users: {
                    id: string;
                    identityUserId: string;
                    email: string;
                    name: string;
                    /** @enum {string} */
                    role: "USER" | "ADMIN";
                    isActive: boolean;
                    /** Format: date-time */
                    trialEndsAt: string | null;
                    /** Format: date-time */
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
                /** @enum {string} */
                role: "USER" | "ADMIN";
                isActive: boolean;
                /** Format: date-time */
                trialEndsAt: string | null;
                /** Format: date-time */
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
                /** Format: date-time */
                expiresAt: string | null;
                createdByEmail: string;
                /** Format: date-time */
                createdAt: string;
            };
            createWebhook: {
                id: string;
                userId: string;
                url: string;
                secret: string;
                events: ("task.created" | "task.updated" | "task.deleted" | "task.started" | "task.completed" | "task.failed" | "execution.started" | "execution.completed" | "execution.failed" | "task.changed" | "task.overdue" | "task.failing" | "task.recovered" | "task.expensive" | "task.slow" | "task.degraded" | "usage.alert" | "scheduler.silent" | "test")[];
                isActive: boolean;
                /** Format: date-time */
                createdAt: string;
            };
            testWebhook: {
                id: string;
                webhookId: string;
                /** @enum {string} */
                event: "task.created" | "task.updated" | "task.deleted" | "task.started" | "task.completed" | "task.failed" | "execution.started" | "execution.completed" | "execution.failed" | "task.changed" | "task.overdue" | "task.failing" | "task.recovered" | "task.expensive" | "task.slow" | "task.degraded" | "usage.alert" | "scheduler.silent" | "test";
                url: string;
                statusCode: number | null;
                /** @description Milliseconds */
                responseTime: number;
                attempt: number;
                /** @description Whether the receiver accepted the delivery */
                success: boolean;
                /** Format: date-time */
                timestamp: string;
            };
        };
        ActionError: {
            /** @constant */
            success: false;
            /** @constant */
            error: "Validation error";
            /** @description Messages by field */
            details: {
                [key: string]: string[];
            };
            code?: undefined;
        } | {
            /** @constant */
            success: false;
            /** @constant */
            error: "Unauthorized";
            /** @constant */
            code: "AUTH_REQUIRED";
        } | {
            /** @constant */
            success: false;
            /** @constant */
            error: "Forbidden";
            /** @constant */
            code: "INSUFFICIENT_PERMISSIONS";
        } | {
            /** @constant */
            success: false;
            /** @constant */
            error: "Too many requests";
            /** @constant */
            code: "RATE_LIMIT_EXCEEDED";
            /** @description Seconds */
            retryAfter: number;
        } | {
            /** @constant */
            success: false;
            /** @description What happened, for the user */
            error: string;
            /** @enum {string} */
            code: "INVALID_CREDENTIALS" | "NOT_FOUND" | "CONFLICT" | "QUOTA_EXCEEDED" | "SERVICE_UNAVAILABLE" | "INTERNAL_ERROR";
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type ActionTask = components['schemas']['ActionTask'];
export type ActionExecution = components['schemas']['ActionExecution'];
export type ActionInputs = components['schemas']['ActionInputs'];
export type ActionResults = components['schemas']['ActionResults'];
export type ActionError = components['schemas']['ActionError'];
export type $defs = Record<string, never>;
export type operations = Record<string, never>;
