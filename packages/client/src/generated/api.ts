// Generated from the OpenAPI document by `pnpm docs:generate`. Do not edit.
export interface paths {
    "/api/auth/register": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Register an account
         * @description Creates an account on the trial plan. Does not sign in: use `login`. The e-mail address is case-insensitive and trimmed.
         *
         *     Limit: 3 requests an hour per IP address.
         */
        post: operations["register"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/auth/login": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Sign in
         * @description Sets the cookie `local-session`. With the header `X-Request-Token: true` the response also contains a bearer token. An account has at most 10 sessions: another one ends the oldest.
         *
         *     Limit: 5 requests in 15 minutes per IP address and e-mail address, and 300 a minute per IP address.
         */
        post: operations["login"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/auth/logout": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Sign out
         * @description Ends the session of this request immediately and clears the cookie. Other sessions continue.
         *
         *     Limit: 100 requests a minute per user, shared by all operations without a limit of their own.
         *
         *     Takes no API key.
         */
        post: operations["logout"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/auth/session": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the current session
         * @description For a web client that checks at its start whether a user is signed in. The body of 401 is `{authenticated: false}`.
         *
         *     Limit: 60 requests a minute per user.
         *
         *     Takes no API key.
         */
        get: operations["getSession"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/auth/confirm": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Confirm the session
         * @description Creating or prolonging an API key, creating a feed and changing second factors need a session that was opened, or confirmed here, within the last 15 minutes: else they are 403 with `X-Error-Code: CONFIRMATION_REQUIRED`. Send one of the fields. Where the account has a second factor, changing factors needs one of the others than `password`. 5 passwords in 15 minutes, 30 wrong codes an hour.
         *
         *     Limit: 100 requests a minute per user, shared by all operations without a limit of their own.
         *
         *     Takes no API key.
         */
        post: operations["confirmSession"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/auth/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List sessions
         * @description Returns the caller's sessions, the most recently used first. `lastUsedAt` has a precision of one minute.
         *
         *     Limit: 100 requests a minute per user, shared by all operations without a limit of their own.
         *
         *     Takes no API key.
         */
        get: operations["listSessions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/auth/sessions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * End a session
         * @description Ends one of the caller's sessions immediately. Ending the session of the request also clears the cookie.
         *
         *     Limit: 100 requests a minute per user, shared by all operations without a limit of their own.
         *
         *     Takes no API key.
         */
        delete: operations["endSession"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/user/factors": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List second factors
         * @description Returns the caller's second factors, the oldest first.
         *
         *     Limit: 100 requests a minute per user, shared by all operations without a limit of their own.
         *
         *     Takes no API key.
         */
        get: operations["listFactors"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/user/factors/totp": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Add an authenticator app
         * @description The app takes the `secret`, or the `uri` as a QR code. Sign-ins ask for its codes once `confirmTotp` has got the first one; until then another request replaces it. Needs a session that was opened or confirmed within the last 15 minutes, with a second factor where the account has one: else 403 with `X-Error-Code: CONFIRMATION_REQUIRED`, see `POST /api/auth/confirm`.
         *
         *     Limit: 100 requests a minute per user, shared by all operations without a limit of their own.
         *
         *     Takes no API key.
         */
        post: operations["createTotp"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/user/factors/{id}/confirm": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Confirm an authenticator app
         * @description From now on, a sign-in with the password needs a second factor. Needs a session that was opened or confirmed within the last 15 minutes, with a second factor where the account has one: else 403 with `X-Error-Code: CONFIRMATION_REQUIRED`, see `POST /api/auth/confirm`.
         *
         *     Limit: 100 requests a minute per user, shared by all operations without a limit of their own.
         *
         *     Takes no API key.
         */
        post: operations["confirmTotp"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/user/factors/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Delete a second factor
         * @description The recovery codes go with the last one. Needs a session that was opened or confirmed within the last 15 minutes, with a second factor where the account has one: else 403 with `X-Error-Code: CONFIRMATION_REQUIRED`, see `POST /api/auth/confirm`.
         *
         *     Limit: 100 requests a minute per user, shared by all operations without a limit of their own.
         *
         *     Takes no API key.
         */
        delete: operations["deleteFactor"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/user/recovery-codes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Replace the recovery codes
         * @description The earlier ones stop working. Needs a session that was opened or confirmed within the last 15 minutes, with a second factor where the account has one: else 403 with `X-Error-Code: CONFIRMATION_REQUIRED`, see `POST /api/auth/confirm`.
         *
         *     Limit: 100 requests a minute per user, shared by all operations without a limit of their own.
         *
         *     Takes no API key.
         */
        post: operations["createRecoveryCodes"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/auth/second-factor": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Sign in with the second factor
         * @description Finishes a sign-in that was answered with `SECOND_FACTOR_REQUIRED`, with a `code` or a `recoveryCode`. A ticket lives 5 minutes and takes 5 codes; an account takes 30 wrong codes an hour. After a code, neither it nor an older one works.
         *
         *     Limit: 600 requests a minute per IP address, shared by all operations without a limit of their own.
         */
        post: operations["answerTicket"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/user/apps": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List connected apps
         * @description Returns the assistants and other programs that the caller has connected by OAuth, newest first. `lastUsedAt` is at most a minute old. API keys are 403. Pages by `cursor`.
         *
         *     Limit: 100 requests a minute per user, shared by all operations without a limit of their own.
         *
         *     Takes no API key.
         */
        get: operations["listApps"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/user/apps/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Disconnect an app
         * @description Its tokens are then 401 in every process. API keys are 403.
         *
         *     Limit: 100 requests a minute per user, shared by all operations without a limit of their own.
         *
         *     Takes no API key.
         */
        delete: operations["disconnectApp"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/user": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the current user
         * @description Returns the profile with statistics of its tasks and runs. `successRate` is the share of completed executions among the completed and failed ones.
         *
         *     Limit: 100 requests a minute per user, shared by all operations without a limit of their own.
         *
         *     Scope of an API key: `profile:read`.
         */
        get: operations["getUser"];
        put?: never;
        post?: never;
        /**
         * Delete the current user
         * @description Deletes the account with all its data immediately and for good, and ends its sessions. It takes the current password: after 5 attempts in 15 minutes, 429. An account without a password repeats its e-mail address, with a session that is at most 15 minutes old.
         *
         *     Limit: 100 requests a minute per user, shared by all operations without a limit of their own.
         *
         *     Takes no API key.
         */
        delete: operations["deleteUser"];
        options?: never;
        head?: never;
        /**
         * Change the current user
         * @description Changes the fields that are given. If the user has a personal key for the AI service, their tasks run with it; it is stored encrypted. Another `email` counts once the link that is mailed to it is opened, see `confirmEmail`; an account without a password first gets a link at its present address. At most 5 changes of the address an hour; after 5 passwords in 15 minutes, 429.
         *
         *     Limit: 100 requests a minute per user, shared by all operations without a limit of their own.
         *
         *     Scope of an API key: `profile:write`.
         */
        patch: operations["patchUser"];
        trace?: never;
    };
    "/api/user/password": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Change the password
         * @description Ends all other sessions, invalidates its reset links and notifies the owner by mail. A wrong `currentPassword` is 400 on that field; after 5 attempts in 15 minutes, 429.
         *
         *     Limit: 100 requests a minute per user, shared by all operations without a limit of their own.
         *
         *     Takes no API key.
         */
        post: operations["changePassword"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/user/settings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get user settings
         * @description Returns the settings: language, notification targets and channels.
         *
         *     Limit: 100 requests a minute per user, shared by all operations without a limit of their own.
         *
         *     Scope of an API key: `profile:read`.
         */
        get: operations["getUserSettings"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Change user settings
         * @description Returns all settings. Another `email` counts once the link that is mailed to it is opened, as in `patchUser`. An address that is new in `notificationEmails` gets a link, and nothing else before it is opened.
         *
         *     Limit: 100 requests a minute per user, shared by all operations without a limit of their own.
         *
         *     Scope of an API key: `profile:write`.
         */
        patch: operations["changeUserSettings"];
        trace?: never;
    };
    "/api/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List API keys
         * @description Returns the caller's keys, newest first, those that have expired too. `lastUsedAt` is at most a minute old. Pages by `cursor`.
         *
         *     Limit: 100 requests a minute per user, shared by all operations without a limit of their own.
         *
         *     Takes no API key.
         */
        get: operations["listApiKeys"];
        put?: never;
        /**
         * Create an API key
         * @description The key is returned here as `secret`, and never again. Send it as `Authorization: Bearer <secret>`. Only administrators can give the scope `admin`. Sent twice without an `Idempotency-Key`, it creates two keys. A session older than 15 minutes is 403 with `X-Error-Code: CONFIRMATION_REQUIRED`: see `POST /api/auth/confirm`.
         *
         *     Limit: 100 requests a minute per user, shared by all operations without a limit of their own.
         *
         *     Takes no API key.
         */
        post: operations["createApiKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/keys/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Delete an API key
         * @description Requests with the key are then 401 in every process.
         *
         *     Limit: 100 requests a minute per user, shared by all operations without a limit of their own.
         *
         *     Takes no API key.
         */
        delete: operations["deleteApiKey"];
        options?: never;
        head?: never;
        /**
         * Change an API key
         * @description Scopes cannot be changed: create another key. A new `expiresAt` also makes an expired key valid again. A later one needs a session of the last 15 minutes, as a new key does.
         *
         *     Limit: 100 requests a minute per user, shared by all operations without a limit of their own.
         *
         *     Takes no API key.
         */
        patch: operations["changeApiKey"];
        trace?: never;
    };
    "/api/secrets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List secrets
         * @description Returns the caller's secrets by name, without their values.
         *
         *     Limit: 100 requests a minute per user, shared by all operations without a limit of their own.
         *
         *     Takes no API key.
         */
        get: operations["listSecrets"];
        put?: never;
        /**
         * Create a secret
         * @description A header for the sources of tasks that name it. It is sent to its host only: over https, or to an address of `SOURCES_ALLOW`, and to no other host that a redirect leads to. Where a page repeats it, it is masked.
         *
         *     Limit: 100 requests a minute per user, shared by all operations without a limit of their own.
         *
         *     Takes no API key.
         */
        post: operations["createSecret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/secrets/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Delete a secret
         * @description Sources that name it then fail.
         *
         *     Limit: 100 requests a minute per user, shared by all operations without a limit of their own.
         *
         *     Takes no API key.
         */
        delete: operations["deleteSecret"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/tasks/preview-sources": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Preview sources
         * @description Reads the sources now and stores nothing. Returns what the model would be given, each text cut to 4,000 characters. Allowed 10 times a minute.
         *
         *     Limit: 100 requests a minute per user, shared by all operations without a limit of their own.
         *
         *     Scope of an API key: `tasks:write`.
         */
        post: operations["previewSources"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/create-task": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create a task
         * @description Schedules a prompt. The first run is at `scheduledFor`, which has to be in the future. The following runs keep the wall-clock time in `timezone`, also across clock changes, or follow the `recurrencePattern`; `previewTask` shows them in advance. Sends `task.created`. Sent twice without an `Idempotency-Key`, it creates two tasks.
         *
         *     Limit: 10 requests a minute per user.
         *
         *     Scope of an API key: `tasks:write`.
         */
        post: operations["createTask"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/tasks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List tasks
         * @description Returns the caller's tasks, newest first. `search` matches a part of the name in any letter case. Pages by `offset`, or by `cursor`, which stays fast on late pages and takes precedence if both are given.
         *
         *     Limit: 100 requests a minute per user.
         *
         *     Scope of an API key: `tasks:read`.
         */
        get: operations["listTasks"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/tasks/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a task
         * @description Returns the task with its next and its last run.
         *
         *     Limit: 120 requests a minute per user.
         *
         *     Scope of an API key: `tasks:read`.
         */
        get: operations["getTask"];
        put?: never;
        post?: never;
        /**
         * Delete a task and its executions
         * @description Drops pending runs and aborts a running one: its result is lost, its tokens still count. Sends `task.deleted`. Cannot be undone.
         *
         *     Limit: 10 requests a minute per user.
         *
         *     Scope of an API key: `tasks:write`.
         */
        delete: operations["deleteTask"];
        options?: never;
        head?: never;
        /**
         * Change, pause or resume a task
         * @description Changes the fields that are given; null clears a nullable field. Resuming the task or changing the schedule recomputes `nextExecutionAt`; runs that were due during the pause are not made up for. Idempotent: a field that already has the given value is not a change. Sends `task.updated` if anything changed.
         *
         *     Limit: 20 requests a minute per user.
         *
         *     Scope of an API key: `tasks:write`.
         */
        patch: operations["changeTask"];
        trace?: never;
    };
    "/api/tasks/{id}/execute": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Run a task now
         * @description Queues a run immediately and leaves the schedule as it is. At most 5 runs of a user are running at a time; others wait as `pending`. Poll `getExecution` for the result. Sent twice without an `Idempotency-Key`, the task runs twice.
         *
         *     Limit: 20 requests a minute per user.
         *
         *     Scope of an API key: `executions:run`.
         */
        post: operations["executeTask"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/tasks/{id}/duplicate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Duplicate a task
         * @description Copies everything that the owner has set, except attachments that were deleted, and no executions. The copy of an active task is active and continues with the next future run; the copy of any other task, and of a `once` task whose time has passed, is paused. The body is optional.
         *
         *     Limit: 100 requests a minute per user, shared by all operations without a limit of their own.
         *
         *     Scope of an API key: `tasks:write`.
         */
        post: operations["duplicateTask"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/tasks/{id}/occurrences": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List occurrences
         * @description Returns one row for each planned instant of the task, newest first, including those that did not run, with the reason. Pages by `cursor`.
         *
         *     Limit: 100 requests a minute per user, shared by all operations without a limit of their own.
         *
         *     Scope of an API key: `tasks:read`.
         */
        get: operations["listOccurrences"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/tasks/{id}/versions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the versions of a task
         * @description Returns the versions, newest first. A change of `prompt`, `aiModel`, `fallbackModels`, `maxTokens`, `temperature`, `timeoutMs`, `maxRetries`, `context`, `outputSchema`, `inputs`, `sources`, `runIf`, `tools`, `maxToolUses`, `requireTools`, `attachments` makes one. Changes by the same account and way within 10 minutes of the first are one version, unless a run has used it. `taskVersion` of an execution is the number. Pages by `offset`, or by `cursor`.
         *
         *     Limit: 100 requests a minute per user, shared by all operations without a limit of their own.
         *
         *     Scope of an API key: `tasks:read`.
         */
        get: operations["listVersions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/tasks/{id}/versions/{number}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a version of a task
         * @description Returns the version with what a run used of the task.
         *
         *     Limit: 100 requests a minute per user, shared by all operations without a limit of their own.
         *
         *     Scope of an API key: `tasks:read`.
         */
        get: operations["getVersion"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/tasks/{id}/versions/{number}/restore": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Restore a version of a task
         * @description Gives the task what the version has, as a new version; status, schedule and the other deliveries stay. If it is what the task has, nothing changes. What is lost since, such as a file or a channel, is an error that names it. Sends `task.updated` if anything changed.
         *
         *     Limit: 100 requests a minute per user, shared by all operations without a limit of their own.
         *
         *     Scope of an API key: `tasks:write`.
         */
        post: operations["restoreVersion"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/tasks/{id}/skip-next": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Skip the next run
         * @description Records the next planned run as `skipped_by_user` and moves `nextExecutionAt` to the one after it; without one, the task is completed. Each call skips one more run, unless `If-Match` is sent. To take it back, pause and resume the task, or change its schedule. Sends `task.updated`.
         *
         *     Limit: 100 requests a minute per user, shared by all operations without a limit of their own.
         *
         *     Scope of an API key: `tasks:write`.
         */
        post: operations["skipNextRun"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/tasks/{id}/backfill": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Fill in missed runs
         * @description Queues a run for each instant of the task's schedule in a past period of at most 100 instants, in order of time, in any status of the task. Instants that had an execution are skipped, so the request can be repeated: `queued` is then 0. The quotas must admit all runs, or none is queued. Each run is `late`, with the `trigger` `backfill` and the instant as `plannedFor`.
         *
         *     Limit: 100 requests a minute per user, shared by all operations without a limit of their own.
         *
         *     Scope of an API key: `executions:run`.
         */
        post: operations["backfillTask"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/templates": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List templates
         * @description Returns all templates of tasks, in the language and the time zone of the caller's account. Replace each `[key]` in the texts of a `task` by what the user gives for that blank, percent-encoded within a `url`, and add `scheduledFor`.
         *
         *     Limit: 100 requests a minute per user, shared by all operations without a limit of their own.
         *
         *     Scope of an API key: `tasks:read`.
         */
        get: operations["listTemplates"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/tasks/{id}/template": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a template of a task
         * @description Returns the settings of the task that differ from the defaults, for use in another account. Left out are its deliveries, attachments, secrets and dates. A source that needs a secret, or has one in its address, has a blank instead of the address.
         *
         *     Limit: 100 requests a minute per user, shared by all operations without a limit of their own.
         *
         *     Scope of an API key: `tasks:read`.
         */
        get: operations["getTaskTemplate"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/tasks/preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Preview the next runs of a schedule
         * @description Stores nothing. Returns at most 50 future runs, with a `note` where a clock change or a short month shifts one, after a pause, at the last run, and, at the first one, on how a pattern combines day of month and weekday. A `scheduledFor` in the past is accepted if future runs follow from it.
         *
         *     Limit: 100 requests a minute per user, shared by all operations without a limit of their own.
         *
         *     Scope of an API key: `tasks:read`.
         */
        post: operations["previewTask"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/tasks/preview-prompt": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Preview what the model is sent
         * @description Runs and stores nothing. Returns the system message and the prompt, with its variables replaced, as a planned run that starts now would send them. Without a `taskId` it is a task without earlier runs.
         *
         *     Limit: 100 requests a minute per user, shared by all operations without a limit of their own.
         *
         *     Scope of an API key: `tasks:read`.
         */
        post: operations["previewPrompt"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/executions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List executions
         * @description Returns the executions of the caller's tasks, newest first, optionally by task, by status, by outcome, by whether they were seen, by words (`q`) and by creation time: from `startDate` to `endDate`, where a day is a whole day in UTC. Pages by `offset`, or by `cursor`, which stays fast on late pages and takes precedence if both are given.
         *
         *     Limit: 100 requests a minute per user.
         *
         *     Scope of an API key: `executions:read`.
         */
        get: operations["listExecutions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/executions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an execution
         * @description To wait for the end of a run, poll until `completedAt` is set, or subscribe a webhook to `execution.completed` and `execution.failed`.
         *
         *     Limit: 150 requests a minute per user.
         *
         *     Scope of an API key: `executions:read`.
         */
        get: operations["getExecution"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/executions/{id}/details": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the details of an execution
         * @description Returns the execution with the current state of its task, the steps of the run with their times, and its model, tokens and cost.
         *
         *     Limit: 100 requests a minute per user, shared by all operations without a limit of their own.
         *
         *     Scope of an API key: `executions:read`.
         */
        get: operations["getExecutionDetails"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/executions/{id}/diff": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Compare an execution with an earlier one
         * @description Returns the watched values that differ, by what the task watches now, and the differences between the two results by word, or by line of long results. Of results that are too long or too different, the part between their equal ends counts as replaced. The parts in order, without the inserted ones, are the earlier result; without the deleted ones, the later result.
         *
         *     Limit: 100 requests a minute per user, shared by all operations without a limit of their own.
         *
         *     Scope of an API key: `executions:read`.
         */
        get: operations["diffExecution"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/executions/{id}/seen": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Mark an execution as seen
         * @description Idempotent: `seenAt` keeps the first time. A run that is pending or running stays unseen when it ends.
         *
         *     Limit: 100 requests a minute per user, shared by all operations without a limit of their own.
         *
         *     Scope of an API key: `executions:read`.
         */
        post: operations["seeExecution"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/executions/seen": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Mark all executions as seen
         * @description Marks every execution that has ended. The body is optional.
         *
         *     Limit: 100 requests a minute per user, shared by all operations without a limit of their own.
         *
         *     Scope of an API key: `executions:read`.
         */
        post: operations["seeExecutions"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/executions/{id}/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Retry an execution
         * @description Creates a pending execution of the same task (201). If a retry of the failed execution is already scheduled or running, it is returned instead (200), and a scheduled one is queued immediately. Idempotent in that sense.
         *
         *     Limit: 100 requests a minute per user, shared by all operations without a limit of their own.
         *
         *     Scope of an API key: `executions:run`.
         */
        post: operations["retryExecution"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/executions/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel an execution
         * @description Ends an execution that is pending or running as `failed` with `errorCode` `CANCELLED`. A pending one gives its execution back to the quota. The tokens of a running one are an estimate, and the connection to the provider is closed within two seconds, on whichever process it runs. No retry follows, and the consecutive failures of the task stay as they are.
         *
         *     Limit: 100 requests a minute per user, shared by all operations without a limit of their own.
         *
         *     Scope of an API key: `executions:run`.
         */
        post: operations["cancelExecution"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/alerts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List alerts
         * @description Returns the alerts of the caller's tasks with their deliveries, newest first. Pages by `cursor`. Which alerts are sent is the field `alerts` of a task.
         *
         *     Limit: 100 requests a minute per user, shared by all operations without a limit of their own.
         *
         *     Scope of an API key: `executions:read`.
         */
        get: operations["listAlerts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/alerts/{id}/acknowledge": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Acknowledge an alert
         * @description Puts its cause away: the task, the rule and the error code need no attention in the dashboard until they change, or the task recovers. Idempotent: `acknowledgedAt` keeps the first time.
         *
         *     Limit: 100 requests a minute per user, shared by all operations without a limit of their own.
         *
         *     Scope of an API key: `executions:read`.
         */
        post: operations["acknowledgeAlert"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/tasks/{id}/feed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create the feed of a task
         * @description Returns the address of an Atom feed with the newest 50 results of the task. A feed that exists already gets another address, and the former one ends. It needs a session of the last 15 minutes (`POST /api/auth/confirm`), or an API key with the scope `executions:read` too: the feed ends with that key.
         *
         *     Limit: 100 requests a minute per user, shared by all operations without a limit of their own.
         *
         *     Scope of an API key: `tasks:write`.
         */
        post: operations["createTaskFeed"];
        /**
         * Delete the feed of a task
         * @description The address of the feed ends.
         *
         *     Limit: 100 requests a minute per user, shared by all operations without a limit of their own.
         *
         *     Scope of an API key: `tasks:write`.
         */
        delete: operations["deleteTaskFeed"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/user/feed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create the account feed
         * @description Returns the address of an Atom feed with the newest 50 results of all tasks. A feed that exists already gets another address, and the former one ends. It needs a session of the last 15 minutes (`POST /api/auth/confirm`), or an API key with the scope `executions:read` too: the feed ends with that key.
         *
         *     Limit: 100 requests a minute per user, shared by all operations without a limit of their own.
         *
         *     Scope of an API key: `profile:write`.
         */
        post: operations["createAccountFeed"];
        /**
         * Delete the account feed
         * @description The address of the feed ends.
         *
         *     Limit: 100 requests a minute per user, shared by all operations without a limit of their own.
         *
         *     Scope of an API key: `profile:write`.
         */
        delete: operations["deleteAccountFeed"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List or stream events
         * @description Returns the events of the caller, oldest first, whether or not a webhook subscribes to them. They are stored for 30 days by default. With `Accept: text/event-stream` the response is a stream that continues with new events as they happen: from the one after `Last-Event-ID` or `after`, or else from now. A stream ends when the session ends and when the process stops; connect again with the last id. A user may have 5 streams open (429), a process 1,000 (503).
         *
         *     Limit: 100 requests a minute per user, shared by all operations without a limit of their own.
         *
         *     Scope of an API key: `events:read`.
         */
        get: operations["listEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/process": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Answer a message
         * @description Sends the message to the `defaultModel` of the system settings, with at most 2048 tokens, and returns the answer with follow-up suggestions. With `propose=true`, if the message asks for something to be done later, repeatedly or when something changes, the result may have a `proposal`: a task that `confirmTask` saves, and nothing else does. Counts as one execution and consumes the token quota. With `Accept: text/event-stream` the content is streamed; an error before the first piece is an ordinary JSON response.
         *
         *     Limit: 30 requests a minute per user.
         *
         *     Scope of an API key: `agent:run`.
         */
        post: operations["processMessage"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/executions/{id}/ask": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Ask about an answer
         * @description Sends the message to the `defaultModel` of the system settings, with the prompt of the execution, its result, its sources and what was asked about it before, and returns the answer in the form of `processMessage`. The question and its answer are stored with the execution. Counts as one execution and consumes the token quota. With `Accept: text/event-stream` the content is streamed; an error before the first piece is an ordinary JSON response. An API key needs `executions:read` too.
         *
         *     Limit: 100 requests a minute per user, shared by all operations without a limit of their own.
         *
         *     Scope of an API key: `agent:run`.
         */
        post: operations["askExecution"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/executions/{id}/questions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the questions about an answer
         * @description Returns what was asked about the result of the execution, newest first. Deleted with the execution. Pages by `offset`, or by `cursor`.
         *
         *     Limit: 100 requests a minute per user, shared by all operations without a limit of their own.
         *
         *     Scope of an API key: `executions:read`.
         */
        get: operations["listQuestions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/confirm-task": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Save a proposed task
         * @description Creates the task of a `proposal`, with `changes` if there are any, as `createTask` would, and at most once. An error leaves the proposal as it is: it can be confirmed again, for 24 hours after it was made. If its first run has passed by then, the error names `scheduledFor`: send a new one in `changes`. Sends `task.created`.
         *
         *     Limit: 10 requests a minute per user.
         *
         *     Scope of an API key: `tasks:write`.
         */
        post: operations["confirmTask"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/webhooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List webhooks
         * @description Returns the caller's webhooks, newest first: those created by `createWebhook` and those of the `webhookUrl` of tasks and of the settings. Secrets are not returned. Pages by `limit` and `offset`.
         *
         *     Limit: 100 requests a minute per user, shared by all operations without a limit of their own.
         *
         *     Scope of an API key: `webhooks:read`.
         */
        get: operations["listWebhooks"];
        put?: never;
        /**
         * Create a webhook
         * @description Subscribes a URL to events of the given kinds; see `webhooks` in this document. The secret signs deliveries; it is returned here and by a rotation, and never again. Sent twice without an `Idempotency-Key`, it creates two webhooks.
         *
         *     Limit: 5 requests a minute per user.
         *
         *     Scope of an API key: `webhooks:write`.
         */
        post: operations["createWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/webhooks/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a webhook
         * @description Returns the webhook without its secret.
         *
         *     Limit: 100 requests a minute per user, shared by all operations without a limit of their own.
         *
         *     Scope of an API key: `webhooks:read`.
         */
        get: operations["getWebhook"];
        put?: never;
        post?: never;
        /**
         * Delete a webhook
         * @description Deletes the webhook with its deliveries and its log; pending deliveries are dropped. The webhook of a task or of the settings is deleted by removing the `webhookUrl` there.
         *
         *     Limit: 100 requests a minute per user, shared by all operations without a limit of their own.
         *
         *     Scope of an API key: `webhooks:write`.
         */
        delete: operations["deleteWebhook"];
        options?: never;
        head?: never;
        /**
         * Change a webhook
         * @description Activating the webhook again sends the deliveries that have waited. For the webhook of a task or of the settings, only `isActive` can be changed here; for the webhook of the settings it equals `notificationPreferences.webhook`.
         *
         *     Limit: 100 requests a minute per user, shared by all operations without a limit of their own.
         *
         *     Scope of an API key: `webhooks:write`.
         */
        patch: operations["changeWebhook"];
        trace?: never;
    };
    "/api/webhooks/{id}/rotate-secret": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Rotate the secret of a webhook
         * @description For 24 hours, `webhook-signature` also contains a signature with the previous secret. `X-Webhook-Signature` and the inbound URL change immediately.
         *
         *     Limit: 100 requests a minute per user, shared by all operations without a limit of their own.
         *
         *     Scope of an API key: `webhooks:write`.
         */
        post: operations["rotateSecret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/webhooks/{id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Test a webhook
         * @description Sends the event `test` immediately and responds when the receiver has responded, after 35 seconds at most. The attempt is logged and never retried. A rejection by the receiver is not an error of this operation: see `success`.
         *
         *     Limit: 10 requests a minute per user.
         *
         *     Scope of an API key: `webhooks:write`.
         */
        post: operations["testWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/webhooks/{id}/logs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List delivery attempts
         * @description Returns the last 100 attempts and all attempts of deliveries that are still pending, newest first. Pages by `limit` and `offset`.
         *
         *     Limit: 100 requests a minute per user, shared by all operations without a limit of their own.
         *
         *     Scope of an API key: `webhooks:read`.
         */
        get: operations["listDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/webhooks/{id}/logs/{logId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a delivery attempt
         * @description Returns an entry of the delivery log with its delivery, and why it failed.
         *
         *     Limit: 100 requests a minute per user, shared by all operations without a limit of their own.
         *
         *     Scope of an API key: `webhooks:read`.
         */
        get: operations["getDeliveryAttempt"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/webhooks/{id}/logs/{deliveryId}/redeliver": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Redeliver a delivery
         * @description Sends the same bytes with the same `webhook-id` again, starting with attempt 1; a delivery that waits for a retry is sent now. Accepts the `deliveryId` or the `id` of a log entry. Receivers detect duplicates by `webhook-id`.
         *
         *     Limit: 100 requests a minute per user, shared by all operations without a limit of their own.
         *
         *     Scope of an API key: `webhooks:write`.
         */
        post: operations["redeliver"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/webhooks/{id}/redeliver": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Redeliver failed deliveries
         * @description Sends each delivery again whose attempts have all failed since the given instant, starting with attempt 1. Failed deliveries are stored for 30 days by default.
         *
         *     Limit: 100 requests a minute per user, shared by all operations without a limit of their own.
         *
         *     Scope of an API key: `webhooks:write`.
         */
        post: operations["redeliverSince"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/channels": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List channels
         * @description Returns the caller's channels, newest first. Pages by `limit` and `offset`.
         *
         *     Limit: 100 requests a minute per user, shared by all operations without a limit of their own.
         *
         *     Scope of an API key: `webhooks:read`.
         */
        get: operations["listChannels"];
        put?: never;
        /**
         * Create a channel
         * @description Stores where results and alerts are sent: a chat, a phone or a mailbox. Tasks name channels in `channels`, the user settings name them for notifications. Settings that are secrets are encrypted and never returned. Sent twice without an `Idempotency-Key`, it creates two channels.
         *
         *     Limit: 100 requests a minute per user, shared by all operations without a limit of their own.
         *
         *     Scope of an API key: `webhooks:write`.
         */
        post: operations["createChannel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/channels/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a channel
         * @description Returns a channel without its secrets.
         *
         *     Limit: 100 requests a minute per user, shared by all operations without a limit of their own.
         *
         *     Scope of an API key: `webhooks:read`.
         */
        get: operations["getChannel"];
        put?: never;
        post?: never;
        /**
         * Delete a channel
         * @description Deletes a channel with its log, and removes it from tasks and settings.
         *
         *     Limit: 100 requests a minute per user, shared by all operations without a limit of their own.
         *
         *     Scope of an API key: `webhooks:write`.
         */
        delete: operations["deleteChannel"];
        options?: never;
        head?: never;
        /**
         * Change a channel
         * @description Changes the fields that are given. Settings of the kind that are left out stay as they are, but another server needs its secrets again; `null` ends `quiet` or `minIntervalMinutes`. `isActive: false` sends nothing more until it is switched on.
         *
         *     Limit: 100 requests a minute per user, shared by all operations without a limit of their own.
         *
         *     Scope of an API key: `webhooks:write`.
         */
        patch: operations["changeChannel"];
        trace?: never;
    };
    "/api/channels/{id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Test a channel
         * @description Sends a test message immediately and responds when the target has responded, after 35 seconds at most. The attempt is logged and never retried. A rejection by the target is not an error of this operation: see `success`.
         *
         *     Limit: 100 requests a minute per user, shared by all operations without a limit of their own.
         *
         *     Scope of an API key: `webhooks:write`.
         */
        post: operations["testChannel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/channels/{id}/logs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the attempts of a channel
         * @description Returns the last 100 attempts and all attempts of deliveries that are still pending, newest first. Pages by `limit` and `offset`.
         *
         *     Limit: 100 requests a minute per user, shared by all operations without a limit of their own.
         *
         *     Scope of an API key: `webhooks:read`.
         */
        get: operations["listChannelLogs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/channels/{id}/logs/{deliveryId}/redeliver": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a message again
         * @description Sends the message again, starting with attempt 1; one that waits for a retry is sent now. Accepts the `deliveryId` or the `id` of a log entry.
         *
         *     Limit: 100 requests a minute per user, shared by all operations without a limit of their own.
         *
         *     Scope of an API key: `webhooks:write`.
         */
        post: operations["redeliverMessage"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get usage
         * @description Returns the caller's usage of this month, of today (UTC) and of the storage, with the limits of the plan. Operations that need an exhausted quota respond with 402.
         *
         *     Limit: 100 requests a minute per user, shared by all operations without a limit of their own.
         *
         *     Scope of an API key: `usage:read`.
         */
        get: operations["getUsage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/usage/alerts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List usage alerts
         * @description Returns all of the caller's alerts, at most 100, the lowest threshold first.
         *
         *     Limit: 100 requests a minute per user, shared by all operations without a limit of their own.
         *
         *     Scope of an API key: `usage:read`.
         */
        get: operations["listUsageAlerts"];
        put?: never;
        /**
         * Set a usage alert
         * @description Alerts when the usage of executions, tokens or storage reaches a share of its monthly limit, once a month each, and immediately if the share is already reached. Always creates a notification. There is one alert per threshold: setting the same threshold again changes it.
         *
         *     Limit: 100 requests a minute per user, shared by all operations without a limit of their own.
         *
         *     Scope of an API key: `profile:write`.
         */
        post: operations["setUsageAlert"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/usage/alerts/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Delete a usage alert
         * @description Notifications that the alert has sent stay.
         *
         *     Limit: 100 requests a minute per user, shared by all operations without a limit of their own.
         *
         *     Scope of an API key: `profile:write`.
         */
        delete: operations["deleteUsageAlert"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/integrations/notes/validate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Validate a key of the notes tool
         * @description Looks up the workspace of the key at Notion. The key is neither stored nor logged.
         *
         *     Limit: 5 requests a minute per user.
         *
         *     Takes no API key.
         */
        post: operations["validateNotes"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/integrations/design/validate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Validate a token of the design tool
         * @description Looks up the user of the token at Figma, which requires the scope `current_user:read`. The token is neither stored nor logged.
         *
         *     Limit: 5 requests a minute per user.
         *
         *     Takes no API key.
         */
        post: operations["validateDesign"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notifications": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List notifications
         * @description Returns the caller's notifications, newest first. Pages by `offset`, or by `cursor`, which stays fast on late pages and takes precedence if both are given.
         *
         *     Limit: 100 requests a minute per user, shared by all operations without a limit of their own.
         *
         *     Scope of an API key: `usage:read`.
         */
        get: operations["listNotifications"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notifications/{id}/read": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Mark a notification as read
         * @description Idempotent: `readAt` keeps the first time.
         *
         *     Limit: 100 requests a minute per user, shared by all operations without a limit of their own.
         *
         *     Scope of an API key: `profile:write`.
         */
        post: operations["readNotification"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/coupons/activate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Activate a coupon
         * @description Extends the trial: the days of the coupon are added to the end of the trial, or to now if that has passed. An account can use each coupon once.
         *
         *     Limit: 5 requests an hour per user.
         *
         *     Takes no API key.
         */
        post: operations["activateCoupon"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/upload": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Upload a file
         * @description Stores one file of at most 10 MiB for use in tasks: JPEG, PNG, WebP, GIF, PDF, or text as `.txt`, `.md`, `.csv` or `.json`. The type is the declared one if it is accepted, or else the one of the extension. Content that is clearly of another type is refused; what is cut off or malformed is not. `X-File-Id` is the id of the file, for `DELETE` and `attachments`. A user can have 3 uploads in progress; another one is 429. Not idempotent, and without `Idempotency-Key`: sent twice, it creates two files.
         *
         *     Limit: 10 requests a minute per user.
         *
         *     Scope of an API key: `uploads:write`.
         */
        post: operations["createUpload"];
        /**
         * Delete a file
         * @description Deletes one of the caller's files. A task with the file attached keeps the reference, and its next run fails with `INVALID_REQUEST`. If several files have the same data URL, the newest is deleted.
         *
         *     Limit: 20 requests a minute per user.
         *
         *     Scope of an API key: `uploads:write`.
         */
        delete: operations["deleteUpload"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface webhooks {
    "task.created": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Receive task.created
         * @description Sent when a task is created or duplicated. Verify the signature before reading the body.
         */
        post: operations["on.task.created"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "task.updated": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Receive task.updated
         * @description Sent when a task is changed; `changes` has the previous and the new value by field. Verify the signature before reading the body.
         */
        post: operations["on.task.updated"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "task.deleted": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Receive task.deleted
         * @description Sent when a task is deleted. Verify the signature before reading the body.
         */
        post: operations["on.task.deleted"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "task.started": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Receive task.started
         * @description Sent when a run starts, before the model is called; same data as `execution.started`. Verify the signature before reading the body.
         */
        post: operations["on.task.started"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "task.completed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Receive task.completed
         * @description Sent when a run completes; same data as `execution.completed`. Verify the signature before reading the body.
         */
        post: operations["on.task.completed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "task.failed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Receive task.failed
         * @description Sent when a run fails, even if a retry follows; same data as `execution.failed`. Verify the signature before reading the body.
         */
        post: operations["on.task.failed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "execution.started": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Receive execution.started
         * @description Sent when a run starts, before the model is called. Verify the signature before reading the body.
         */
        post: operations["on.execution.started"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "execution.completed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Receive execution.completed
         * @description Sent when a run completes. Verify the signature before reading the body.
         */
        post: operations["on.execution.completed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "execution.failed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Receive execution.failed
         * @description Sent when a run fails; `retryScheduled` is whether a retry follows, and `nextRetryAt` when. Verify the signature before reading the body.
         */
        post: operations["on.execution.failed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "task.changed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Receive task.changed
         * @description Sent beside `task.completed`, with the same data, when a watched value differs from that of the last success. Verify the signature before reading the body.
         */
        post: operations["on.task.changed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "task.overdue": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Receive task.overdue
         * @description Sent when no planned run has ended so many minutes after its planned instant. Verify the signature before reading the body.
         */
        post: operations["on.task.overdue"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "task.failing": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Receive task.failing
         * @description Sent when so many runs in a row have failed. Verify the signature before reading the body.
         */
        post: operations["on.task.failing"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "task.recovered": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Receive task.recovered
         * @description Sent when a run completes after `task.overdue` or `task.failing`, or when the sources of the task can be read again. Verify the signature before reading the body.
         */
        post: operations["on.task.recovered"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "task.expensive": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Receive task.expensive
         * @description Sent when a run costs more than the limit of the task. Verify the signature before reading the body.
         */
        post: operations["on.task.expensive"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "task.slow": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Receive task.slow
         * @description Sent when a run takes longer than the limit of the task. Verify the signature before reading the body.
         */
        post: operations["on.task.slow"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "task.degraded": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Receive task.degraded
         * @description Sent when a fallback model has answered as often in a row as the task allows. Verify the signature before reading the body.
         */
        post: operations["on.task.degraded"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "usage.alert": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Receive usage.alert
         * @description Sent when usage reaches the threshold of an alert, once a month for each resource. Verify the signature before reading the body.
         */
        post: operations["on.usage.alert"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "scheduler.silent": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Receive scheduler.silent
         * @description Sent to admins when the scheduler has not called for two minutes. Verify the signature before reading the body.
         */
        post: operations["on.scheduler.silent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    test: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Receive a test delivery
         * @description Sent on request, without retries. Verify the signature before reading the body.
         */
        post: operations["on.test"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface components {
    schemas: {
        Task: {
            /** @description The id, which never changes */
            id: number;
            /** @description The account that owns it, by id */
            userId: number;
            /** @description The name of the task in files, unique for its owner */
            externalId: string;
            /** @description The name */
            name: string;
            /** @description The owner's description */
            description: string | null;
            /** @description The prompt that is sent to the model */
            prompt: string;
            /**
             * Format: date-time
             * @description The first run, from which the following ones are computed
             */
            scheduledFor: string;
            /**
             * Format: date-time
             * @description The next planned run; null if there is none
             */
            nextExecutionAt: string | null;
            /**
             * @description How often the task runs; with a `recurrencePattern`, the closest recurrence
             * @enum {string}
             */
            recurrence: "once" | "daily" | "weekly" | "monthly";
            /** @description Five-field cron expression in the task's time zone, which decides the next runs; null for none */
            recurrencePattern: string | null;
            /** @description The number of days, weeks or months of `recurrence` between two runs, from the first run on; 1 with a `recurrencePattern` and with `once` */
            interval: number;
            /** @description IANA time zone name */
            timezone: string;
            /** @description The model, named as its provider does. Default: `defaultModel` of the system settings */
            aiModel: string;
            /** @description The maximum number of output tokens */
            maxTokens: number;
            /** @description Hundredths: 70 stands for 0.70 */
            temperature: number;
            /**
             * @description `active` runs as scheduled, `paused` does not run, `completed` and `failed` have ended
             * @enum {string}
             */
            status: "active" | "paused" | "completed" | "failed";
            /** @description The number of runs */
            executionCount: number;
            /**
             * Format: date-time
             * @description When the last run started; null before the first
             */
            lastExecutionAt: string | null;
            /** @description Ids of the attached uploads */
            attachments: string[];
            /** @description A URL that receives the outcomes of runs through its webhook; null for none */
            webhookUrl: string | null;
            /** @description The address that receives a mail when a run ends, once it is confirmed; null for none */
            notificationEmail: string | null;
            /** @description Ids of channels */
            channels: string[];
            /** @description The models that are asked in this order when `aiModel` cannot answer, within the same run */
            fallbackModels: string[];
            /** @description What the model is given in addition to the prompt */
            context: {
                /** @description Whether a system message has the planned time, in the time zone of the task */
                clock: boolean;
                /** @description Whether the system message has the result of the last success */
                previousResult: boolean;
            };
            /** @description A JSON Schema (2020-12) of an object that every result must match: at most 16 KiB and 10 levels deep, with local references only */
            outputSchema: {
                [key: string]: unknown;
            } | null;
            /** @description Tasks of the caller whose last success the prompt reads: `{{task.<name>}}` stands for its output, or for its text without an output schema */
            inputs: {
                /** @description The task that is read. It may read this one in turn: no run waits for another */
                taskId: number;
                /** @description Its name in the prompt, unique among the inputs: a small letter, then up to 31 small letters, digits or `_` */
                name: string;
            }[];
            /** @description What the model may use during a run: the provider's own search (`web_search`) and its reader of web pages (`web_fetch`) */
            tools: ("web_search" | "web_fetch")[];
            /** @description How often the model may use its tools in a run */
            maxToolUses: number;
            /** @description Whether the outcome is `not_done` if the model leaves one of the `tools` unused */
            requireTools: boolean;
            /** @description What Carillon reads before each run, so that the model has fresh facts without tools: pages, feeds, JSON, texts and searches of the web. Sources that the prompt does not name follow it */
            sources: {
                /** @description Unique in the task. `{{source.<name>}}` in the prompt is the text of the source */
                name: string;
                /**
                 * Format: http-url
                 * @description The address of a page, a feed, JSON or a text. Either this or `search`
                 */
                url?: string;
                /** @description The part of `url` to read: a JSON Pointer such as `/items/0/price` for JSON, otherwise a CSS selector such as `#price` for HTML. Without it: the readable text of HTML, the new entries of a feed, JSON and text as they are */
                select?: string;
                /** @description The name of a secret of the account, which is sent to the host of `url` as a header */
                secret?: string;
                /** @description Words to search the web for with the operator's search engine: the source is the first ten results */
                search?: string;
            }[];
            /**
             * @description `changed`: a planned run is left out, without a call to the model, if all sources are as at the last completed run. Runs on demand and retries always run. Needs a source
             * @enum {string}
             */
            runIf: "always" | "changed";
            /**
             * @description When the task's own webhook and mail get a result: `always`, only if it changed (`change`), only failures (`failure`), or only news (`news`): a second, short call to the model decides whether the answer says something new. Failures are always delivered
             * @enum {string}
             */
            notify: "always" | "change" | "failure" | "news";
            /** @description Paths into the output to compare with the last success, such as `price` or `releases[].date`; without any, the whole output */
            watch: string[];
            /**
             * @description What makes up for runs that were missed while the service was down: one run (`latest`), nothing (`none`), or the latest 10 (`all`)
             * @enum {string}
             */
            missed: "latest" | "none" | "all";
            /**
             * @description What happens to a planned run while a run of the task is pending or running: it is skipped, one is queued, or it replaces the others, which are cancelled
             * @enum {string}
             */
            overlap: "skip" | "queue" | "cancel";
            /**
             * Format: date-time
             * @description The task is completed after its last run before this; null for never
             */
            endsAt: string | null;
            /** @description Maximum number of planned runs, after which the task is completed; null for no limit */
            maxRuns: number | null;
            /**
             * Format: date-time
             * @description Nothing is planned before this; null for no pause
             */
            pausedUntil: string | null;
            /** @description How long the model may take to answer, in milliseconds; null for the timeout of the service */
            timeoutMs: number | null;
            /** @description What the runs of a UTC month may cost in USD; null for no limit */
            monthlyBudgetUsd: number | null;
            /** @description How often a failed run is retried */
            maxRetries: number;
            /** @description When to send an alert; a rule that is left out is off. Null: 15 minutes overdue, 3 failures in a row and 3 answers of a fallback model in a row, if the task has a webhook or a mail address */
            alerts: {
                /** @description Minutes after which a planned run is overdue */
                overdueMinutes?: number;
                /** @description Failed runs in a row after which the task is failing */
                failuresInRow?: number;
                /** @description Cost of a run in USD */
                costAboveUsd?: number;
                /** @description Duration of a run in milliseconds */
                durationAboveMs?: number;
                /** @description Runs in a row that a fallback model answered */
                fallbacksInRow?: number;
            } | null;
            /**
             * Format: date-time
             * @description When it was created
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When it was last changed
             */
            updatedAt: string;
        };
        Template: {
            /** @description The id, which never changes */
            id: string;
            /** @description The name */
            name: string;
            /** @description What the task is for, in a sentence */
            purpose: string;
            /**
             * @description `own`: made of a task
             * @enum {string}
             */
            category: "news" | "everyday" | "buying" | "work" | "servers" | "own";
            /** @description What the task uses: pages, feeds and data (`sources`), the search engine of the service (`search`), and tools of the provider (`web_search`, `web_fetch`) */
            needs: ("sources" | "search" | "web_search" | "web_fetch")[];
            /** @description What to ask the user for */
            blanks: {
                /** @description `[key]` in the texts of `task` stands for it */
                key: string;
                /** @description What to ask for */
                label: string;
                /** @description What could be given */
                example: string;
            }[];
            /** @description A body of `createTask` without `scheduledFor`, in whose texts `[key]` stands for a blank */
            task: {
                [key: string]: unknown;
            };
        };
        /** @description A task that the agent proposes. It is not saved before it is confirmed */
        TaskProposal: {
            /**
             * Format: uuid
             * @description For `confirmTask`
             */
            id: string;
            /** @description The body of `createTask` that would create it */
            task: {
                /** @description The name of the task in files, unique for its owner. Default: `task-<id>` */
                externalId?: string;
                /** @description The name. Spaces at its ends are removed */
                name: string;
                /** @description The owner's description */
                description?: string | null;
                /** @description The prompt that is sent to the model */
                prompt: string;
                /**
                 * Format: date-time
                 * @description ISO 8601 with Z or an offset
                 */
                scheduledFor: string;
                /**
                 * @description How often the task runs; with a `recurrencePattern`, the closest recurrence
                 * @enum {string}
                 */
                recurrence: "once" | "daily" | "weekly" | "monthly";
                /** @description Five-field cron expression in the task's time zone; if present, it decides the next runs. A day matches the day of month or the weekday, or both where one of the two fields begins with `*`. Names, `L`, `W` and `#` are supported */
                recurrencePattern?: string | null;
                /** @description The number of days, weeks or months of `recurrence` between two runs, from the first run on; 1 with a `recurrencePattern` and with `once`. Default: 1 */
                interval?: number;
                /**
                 * Format: time-zone
                 * @description IANA time zone name
                 */
                timezone: string;
                /** @description A model of the default provider, or `<provider>/<model>` of another one */
                aiModel?: string;
                /** @description Default: 1024 */
                maxTokens?: number;
                /** @description In hundredths. Default: 70, which stands for 0.70 */
                temperature?: number;
                /** @description URLs or ids of the caller's uploads, at most 20 MiB together */
                attachments?: string[];
                /**
                 * Format: http-url
                 * @description Receives `execution.completed` and `execution.failed` of this task through its webhook; null for none
                 */
                webhookUrl?: string | null;
                /**
                 * Format: email
                 * @description Receives a mail when a run ends and no retry follows; null for none
                 */
                notificationEmail?: string | null;
                /** @description Ids of channels of the caller, which get the results and the alerts of this task. Duplicates are ignored */
                channels?: string[];
                /** @description The models that are asked in this order when `aiModel` cannot answer, within the same run. Default: none */
                fallbackModels?: string[];
                /** @description What the model is given in addition to the prompt */
                context?: {
                    /** @description Default: true */
                    clock?: boolean;
                    /** @description Default: false */
                    previousResult?: boolean;
                };
                /** @description A JSON Schema (2020-12) of an object that every result must match: at most 16 KiB and 10 levels deep, with local references only */
                outputSchema?: {
                    [key: string]: unknown;
                } | null;
                /** @description Tasks of the caller whose last success the prompt reads: `{{task.<name>}}` stands for its output, or for its text without an output schema. Default: none */
                inputs?: {
                    /** @description The task that is read. It may read this one in turn: no run waits for another */
                    taskId: number;
                    /** @description Its name in the prompt, unique among the inputs: a small letter, then up to 31 small letters, digits or `_` */
                    name: string;
                }[];
                /** @description What the model may use during a run: the provider's own search (`web_search`) and its reader of web pages (`web_fetch`). The provider of the model must have them. Default: none */
                tools?: ("web_search" | "web_fetch")[];
                /** @description How often the model may use its tools in a run. Default: 5 */
                maxToolUses?: number;
                /** @description Whether the outcome is `not_done` if the model leaves one of the `tools` unused. Default: false */
                requireTools?: boolean;
                /** @description What Carillon reads before each run, so that the model has fresh facts without tools: pages, feeds, JSON, texts and searches of the web. Sources that the prompt does not name follow it. Default: none */
                sources?: {
                    /** @description Unique in the task. `{{source.<name>}}` in the prompt is the text of the source */
                    name: string;
                    /**
                     * Format: http-url
                     * @description The address of a page, a feed, JSON or a text. Either this or `search`
                     */
                    url?: string;
                    /** @description The part of `url` to read: a JSON Pointer such as `/items/0/price` for JSON, otherwise a CSS selector such as `#price` for HTML. Without it: the readable text of HTML, the new entries of a feed, JSON and text as they are */
                    select?: string;
                    /** @description The name of a secret of the account, which is sent to the host of `url` as a header */
                    secret?: string;
                    /** @description Words to search the web for with the operator's search engine: the source is the first ten results */
                    search?: string;
                }[];
                /**
                 * @description `changed`: a planned run is left out, without a call to the model, if all sources are as at the last completed run. Runs on demand and retries always run. Needs a source. Default: `always`
                 * @enum {string}
                 */
                runIf?: "always" | "changed";
                /**
                 * @description When the task's own webhook and mail get a result: `always`, only if it changed (`change`), only failures (`failure`), or only news (`news`): a second, short call to the model decides whether the answer says something new. Failures are always delivered. Default: `always`
                 * @enum {string}
                 */
                notify?: "always" | "change" | "failure" | "news";
                /** @description Paths into the output to compare with the last success, such as `price` or `releases[].date`; without any, the whole output */
                watch?: string[];
                /**
                 * @description What makes up for runs that were missed while the service was down: one run (`latest`), nothing (`none`), or the latest 10 (`all`). Default: `latest`
                 * @enum {string}
                 */
                missed?: "latest" | "none" | "all";
                /**
                 * @description What happens to a planned run while a run of the task is pending or running: it is skipped, one is queued, or it replaces the others, which are cancelled. Default: `skip`
                 * @enum {string}
                 */
                overlap?: "skip" | "queue" | "cancel";
                /**
                 * Format: date-time
                 * @description No run is planned at this instant or later, and the task is completed after its last run before; null for never
                 */
                endsAt?: string | null;
                /** @description The maximum number of planned runs: the task is completed once the last of them has ended; null for no limit. Runs on demand, retries and runs that were skipped or missed do not count */
                maxRuns?: number | null;
                /**
                 * Format: date-time
                 * @description The first run is the first one of the schedule at this instant or later; null for no pause
                 */
                pausedUntil?: string | null;
                /** @description How long the model may take to answer, in milliseconds: at most the `AI_TIMEOUT_MS` of the service; null for that. Reading attachments does not count */
                timeoutMs?: number | null;
                /** @description What the runs of a UTC month may cost in USD; null for no limit. A run starts only if the most that it can cost is within the rest */
                monthlyBudgetUsd?: number | null;
                /** @description How often a failed run is retried. Default: 3 */
                maxRetries?: number;
                /** @description When to send an alert; a rule that is left out is off. Null: 15 minutes overdue, 3 failures in a row and 3 answers of a fallback model in a row, if the task has a webhook or a mail address */
                alerts?: {
                    /** @description Minutes after which a planned run is overdue */
                    overdueMinutes?: number;
                    /** @description Failed runs in a row after which the task is failing */
                    failuresInRow?: number;
                    /** @description Cost of a run in USD */
                    costAboveUsd?: number;
                    /** @description Duration of a run in milliseconds */
                    durationAboveMs?: number;
                    /** @description Runs in a row that a fallback model answered */
                    fallbacksInRow?: number;
                } | null;
                /**
                 * @description Default: `active`
                 * @enum {string}
                 */
                status?: "active" | "paused";
            };
            /** @description The next runs that the task would have, at most 5 */
            occurrences: {
                /**
                 * Format: date-time
                 * @description The instant
                 */
                at: string;
                /** @description The same instant as wall-clock time in the task's time zone */
                local: string;
                /** @description Why the time deviates (a clock change, a short month, a pause), and why no run follows */
                note?: string;
            }[];
            /**
             * Format: date-time
             * @description Until when it can be confirmed: for 24 hours
             */
            expiresAt: string;
        };
        /** @description What the runs of a task use, since a change of it */
        TaskVersion: {
            /** @description From 1, which is the creation */
            number: number;
            /**
             * Format: date-time
             * @description When the first change of the version was made
             */
            at: string;
            /** @description The account that made it */
            by: number;
            /**
             * @description The way: a page, this API, an assistant (`mcp`) or an import; `api` for version 1 of tasks that are older than versions
             * @enum {string}
             */
            via: "page" | "api" | "mcp" | "import";
            /** @description What differs from the version before; empty for the first one */
            fields: ("prompt" | "aiModel" | "fallbackModels" | "maxTokens" | "temperature" | "timeoutMs" | "maxRetries" | "context" | "outputSchema" | "inputs" | "sources" | "runIf" | "tools" | "maxToolUses" | "requireTools" | "attachments")[];
        };
        Occurrence: {
            /**
             * Format: date-time
             * @description The planned instant; null for a run outside the schedule
             */
            plannedFor: string;
            /**
             * @description The outcome of the planned run: `ran` on time, ran `late`, or did not run because the previous run was still running (`skipped_overlap`), the owner skipped it (`skipped_by_user`), the service was down (`missed`), a quota (`over_quota`) or the budget of the task (`over_budget`) was exhausted, it was `cancelled`, or the sources of the task were `unchanged`
             * @enum {string}
             */
            fate: "ran" | "late" | "skipped_overlap" | "skipped_by_user" | "missed" | "over_quota" | "over_budget" | "cancelled" | "unchanged";
            /**
             * Format: date-time
             * @description When the outcome was recorded
             */
            recordedAt: string;
            /** @description The execution, by id */
            executionId: number | null;
            /**
             * Format: date-time
             * @description When it started; null before that
             */
            startedAt: string | null;
            /** @description From the planned instant to the start */
            latenessMs: number | null;
        };
        TaskExecution: {
            /** @description The id, which never changes */
            id: number;
            /** @description The task, by id */
            taskId: number;
            /** @description The account that owns it, by id */
            userId: number;
            /**
             * @description `pending` is queued, `running` waits for the model, `completed` and `failed` have ended
             * @enum {string}
             */
            status: "pending" | "running" | "completed" | "failed";
            /** @description The answer of the model; null until the execution is `completed` */
            result: string | null;
            /** @description The parsed result of a task with an output schema; null without one */
            output: unknown;
            /** @description Whether a watched value differs from the last success; null without a success before */
            changed: boolean | null;
            /** @description The watched values that differ; null whenever `changed` is */
            changes: {
                /** @description A path such as `releases[0].date` or `releases[version="1.2"].date`; empty for the whole output or text */
                path: string;
                /** @description The earlier value; missing if there was none */
                from?: unknown;
                /** @description The new value; missing if there is none */
                to?: unknown;
                /** @description Whether a value is too long and only a part of it is here; without `from` and `to`, whether further changes were left out */
                cut?: boolean;
            }[] | null;
            /** @description The pages that the answer cites, in its order; empty without any */
            citations: {
                /** @description An http or https address */
                url: string;
                /** @description The title of the page; its host if the provider sent none */
                title: string;
            }[];
            /** @description The sources of the task, in its order; empty before they are read, and without any */
            sources: {
                /** @description The name */
                name: string;
                /** @description The URL that events are sent to */
                url?: string;
                /** @description What was searched for, instead of `url` */
                search?: string;
                /**
                 * @description Against the last completed run
                 * @enum {string}
                 */
                status: "new" | "unchanged" | "failed";
                /** @description Null if nothing answered */
                httpStatus: number | null;
                /**
                 * Format: date-time
                 * @description When it was asked for
                 */
                fetchedAt: string;
                /**
                 * Format: date-time
                 * @description When the text that the run has of it was read; null without a text
                 */
                asOf: string | null;
                /** @description Of what was read, unpacked */
                bytes: number | null;
                /** @description Why it failed */
                message: string | null;
            }[];
            /** @description How often the model used its tools */
            toolUses: number;
            /** @description Whether a limit of tokens or size cut the answer off */
            truncated: boolean;
            /** @description The models that were asked, in order; the one that answered is the last, with `errorCode: null`. Empty before that */
            modelAttempts: {
                /** @description As the task names it */
                model: string;
                /**
                 * @description Why it failed, for programs
                 * @enum {string|null}
                 */
                errorCode: "RATE_LIMIT_EXCEEDED" | "TIMEOUT" | "PROVIDER_UNAVAILABLE" | "PROVIDER_ERROR" | "AUTHENTICATION_FAILED" | "UNKNOWN_MODEL" | "INVALID_REQUEST" | "CONTENT_FILTERED" | "QUOTA_EXCEEDED" | "INTERRUPTED" | "INVALID_OUTPUT" | "CANCELLED" | null;
                /** @description Why the model did not answer; null for the one that answered */
                message: string | null;
                /** @description How long the call took */
                ms: number;
            }[];
            /**
             * @description Whether the answer does what the task asks for (`done`), says nothing new (`nothing_new`), or does not do it (`not_done`); null if nothing decides that
             * @enum {string|null}
             */
            outcome: "done" | "nothing_new" | "not_done" | null;
            /** @description Why, in one sentence */
            outcomeReason: string | null;
            /** @description Why it failed; null unless it failed */
            error: string | null;
            /**
             * @description Why it failed, for programs
             * @enum {string|null}
             */
            errorCode: "RATE_LIMIT_EXCEEDED" | "TIMEOUT" | "PROVIDER_UNAVAILABLE" | "PROVIDER_ERROR" | "AUTHENTICATION_FAILED" | "UNKNOWN_MODEL" | "INVALID_REQUEST" | "CONTENT_FILTERED" | "QUOTA_EXCEEDED" | "INTERRUPTED" | "INVALID_OUTPUT" | "CANCELLED" | null;
            /** @description Tokens charged to the quota, input and output */
            tokensUsed: number | null;
            /** @description The tokens in detail */
            tokens: {
                /** @description Input tokens */
                input: number;
                /** @description Output tokens */
                output: number;
                /** @description Input and output tokens */
                total: number;
                /** @description Whether the counts are estimates because the provider sent none */
                estimated: boolean;
            } | null;
            /** @description The cost in US dollars: as reported by the provider, else by a price list, else 0 */
            costUsd: number | null;
            /** @description The model that answered */
            model: string | null;
            /** @description From start to end, in milliseconds */
            processingTimeMs: number | null;
            /**
             * @description Why it runs: by the `schedule`, on request (`manual`), by an `inbound` webhook, or as a `retry`
             * @enum {string}
             */
            trigger: "schedule" | "manual" | "inbound" | "retry" | "backfill";
            /**
             * Format: date-time
             * @description The planned instant; null for a run outside the schedule
             */
            plannedFor: string | null;
            /** @description The number of the attempt, from 1 */
            attempt: number;
            /** @description The failed execution that this one retries, which may be deleted already; null for none */
            retryOfId: number | null;
            /** @description The version of the task that it used; null before the start, and for runs that are older than versions */
            taskVersion: number | null;
            /**
             * Format: date-time
             * @description When it was created
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When it started; null before that
             */
            startedAt: string | null;
            /**
             * Format: date-time
             * @description When it completed or failed; null before that
             */
            completedAt: string | null;
            /**
             * Format: date-time
             * @description When its owner first saw how it ended; null until then
             */
            seenAt: string | null;
        };
        Alert: {
            /** @description The id, which never changes */
            id: number;
            /**
             * @description The rule that applies, or `task.recovered`
             * @enum {string}
             */
            kind: "task.overdue" | "task.failing" | "task.recovered" | "task.expensive" | "task.slow" | "task.degraded";
            /** @description The task */
            taskId: number;
            /** @description The name of the task */
            taskName: string;
            /**
             * Format: date-time
             * @description The planned instant of the run; for a run on demand, when it was requested
             */
            at: string;
            /** @description The run; null for `task.overdue`, and after the run was pruned */
            executionId: number | null;
            /** @description The alert in short */
            title: string;
            /** @description What happened */
            message: string;
            /**
             * Format: date-time
             * @description When it was created
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When its cause was put away; null if it was not
             */
            acknowledgedAt: string | null;
            /** @description Whether a delivery has failed for good */
            undelivered: boolean;
            /** @description To webhooks, mail addresses and channels */
            deliveries: {
                /**
                 * @description How it is sent
                 * @enum {string}
                 */
                kind: "webhook" | "mail" | "channel";
                /** @description The URL of the webhook, the mail address, or the name of the channel */
                to: string;
                /**
                 * @description `held`: the channel waits for the end of its quiet hours, its interval or its digest. Once it is in a digest, the status is the digest's
                 * @enum {string}
                 */
                status: "pending" | "held" | "delivered" | "failed";
                /** @description The number of attempts so far */
                attempts: number;
                /** @description Of the latest attempt, if it failed */
                lastError: string | null;
                /**
                 * Format: date-time
                 * @description When it was delivered or failed, or else was queued
                 */
                at: string;
            }[];
        };
        Event: {
            /** @description The number in the user's log, which increases by one */
            id: string;
            /**
             * @description The kind of event
             * @enum {string}
             */
            event: "task.created" | "task.updated" | "task.deleted" | "task.started" | "task.completed" | "task.failed" | "execution.started" | "execution.completed" | "execution.failed" | "task.changed" | "task.overdue" | "task.failing" | "task.recovered" | "task.expensive" | "task.slow" | "task.degraded" | "usage.alert" | "scheduler.silent" | "test";
            /**
             * Format: date-time
             * @description When it happened
             */
            timestamp: string;
            /** @description The details by kind, as in the deliveries of webhooks */
            data: {
                [key: string]: unknown;
            };
        };
        User: {
            /** @description The id, which never changes */
            id: number;
            /** @description The account at the OAuth provider; `local:` and an id for an account with a password */
            identityUserId: string;
            /** @description The e-mail address that the account signs in with, in lower case */
            email: string;
            /** @description The name of the user */
            name: string;
            /**
             * @description `ADMIN` may call the operations of administrators
             * @enum {string}
             */
            role: "USER" | "ADMIN";
            /** @description IANA time zone name; null if none is set */
            timezone: string | null;
            /** @description Whether it is active */
            isActive: boolean;
            /**
             * Format: date-time
             * @description When the trial ends; executions are 402 afterwards. Null for no end
             */
            trialEndsAt: string | null;
            /**
             * Format: date-time
             * @description When it was created
             */
            createdAt: string;
            /** @description Statistics */
            stats: {
                /** @description The number of tasks */
                totalTasks: number;
                /** @description The number of `active` tasks */
                activeTasks: number;
                /** @description The number of executions */
                totalExecutions: number;
                /** @description Percent, 0–100, at most two decimals */
                successRate: number;
            };
        };
        ApiKey: {
            /**
             * Format: uuid
             * @description The id, which never changes
             */
            id: string;
            /** @description The name */
            name: string;
            /** @description The first 12 characters of the key */
            prefix: string;
            /** @description What the key may do */
            scopes: ("tasks:read" | "tasks:write" | "executions:read" | "executions:run" | "agent:run" | "uploads:read" | "uploads:write" | "webhooks:read" | "webhooks:write" | "usage:read" | "events:read" | "profile:read" | "profile:write" | "admin")[];
            /**
             * Format: date-time
             * @description When it expires; null for never
             */
            expiresAt: string | null;
            /**
             * Format: date-time
             * @description When it was last used, with a precision of one minute; null if never
             */
            lastUsedAt: string | null;
            /**
             * Format: date-time
             * @description When it was created
             */
            createdAt: string;
        };
        Secret: {
            /**
             * Format: uuid
             * @description The id, which never changes
             */
            id: string;
            /** @description By which sources name it */
            name: string;
            /** @description The host that receives it, with its port unless that is the usual one */
            host: string;
            /** @description The name of the header */
            header: string;
            /**
             * Format: date-time
             * @description When it was created
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When it was last sent, with a precision of one minute; null if never
             */
            lastUsedAt: string | null;
        };
        App: {
            /**
             * Format: uuid
             * @description The id, which never changes
             */
            id: string;
            /** @description As the program names itself */
            name: string;
            /** @description The host of the address that it returns to, `localhost` or the like for one on the own computer, or a scheme such as `cursor:` */
            host: string;
            /** @description What the app may do */
            scopes: ("tasks:read" | "tasks:write" | "executions:read" | "executions:run" | "agent:run" | "uploads:read" | "uploads:write" | "webhooks:read" | "webhooks:write" | "usage:read" | "events:read" | "profile:read" | "profile:write" | "admin")[];
            /**
             * Format: date-time
             * @description When it was created
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When it was last used, with a precision of one minute; null if never
             */
            lastUsedAt: string | null;
        };
        Webhook: {
            /** @description The id, which never changes */
            id: string;
            /** @description The account that owns it, by id */
            userId: number;
            /**
             * @description `subscription` if created by `POST /api/webhooks`; `task` or `account` for the `webhookUrl` of a task or of the settings
             * @enum {string}
             */
            purpose: "subscription" | "task" | "account";
            /** @description The task whose `webhookUrl` it is */
            taskId: number | null;
            /** @description The URL that events are sent to, by POST */
            url: string;
            /** @description The kinds of event that the webhook receives */
            events: ("task.created" | "task.updated" | "task.deleted" | "task.started" | "task.completed" | "task.failed" | "execution.started" | "execution.completed" | "execution.failed" | "task.changed" | "task.overdue" | "task.failing" | "task.recovered" | "task.expensive" | "task.slow" | "task.degraded" | "usage.alert" | "scheduler.silent" | "test")[];
            /** @description The owner's description */
            description: string | null;
            /** @description Whether events are sent */
            isActive: boolean;
            /**
             * @description `active` receives its events, `inactive` is deactivated, `failed` was deactivated after failures
             * @enum {string}
             */
            status: "active" | "inactive" | "failed";
            /**
             * Format: date-time
             * @description When it was created
             */
            createdAt: string;
        };
        DeliveryAttempt: {
            /** @description The id, which never changes */
            id: string;
            /** @description The webhook, by id */
            webhookId: string;
            /**
             * @description The kind of event
             * @enum {string}
             */
            event: "task.created" | "task.updated" | "task.deleted" | "task.started" | "task.completed" | "task.failed" | "execution.started" | "execution.completed" | "execution.failed" | "task.changed" | "task.overdue" | "task.failing" | "task.recovered" | "task.expensive" | "task.slow" | "task.degraded" | "usage.alert" | "scheduler.silent" | "test";
            /** @description The URL that the attempt was sent to */
            url: string;
            /** @description Null if there was no response */
            statusCode: number | null;
            /** @description Milliseconds; 0 if there was no connection */
            responseTime: number;
            /** @description The number of the attempt, from 1 */
            attempt: number;
            /** @description Whether the receiver responded with 2xx in time */
            success: boolean;
            /**
             * Format: date-time
             * @description When it happened
             */
            timestamp: string;
        };
        Channel: {
            /** @description The id, which never changes */
            id: string;
            /**
             * @description What it reaches
             * @enum {string}
             */
            kind: "slack" | "mattermost" | "teams" | "discord" | "telegram" | "ntfy" | "apprise" | "email";
            /** @description The name */
            name: string;
            /** @description The settings of the kind. Secrets are omitted; a secret URL is only its host */
            settings: {
                [key: string]: string | string[];
            };
            /** @description Whether the user settings name it */
            isForAccount: boolean;
            /** @description Whether it is active */
            isActive: boolean;
            /**
             * @description The status
             * @enum {string}
             */
            status: "active" | "inactive" | "failed";
            /** @description False for an `email` whose link has not been opened */
            isConfirmed: boolean;
            /** @description When nothing is sent, by the clock of the time zone. Messages are held and sent together afterwards */
            quiet: {
                /** @description Such as `22:00` */
                from: string;
                /** @description Such as `22:00` */
                to: string;
                /** @description IANA time zone name */
                timezone: string;
            } | null;
            /** @description Minimum number of minutes between two messages. Messages are held and sent together afterwards */
            minIntervalMinutes: number | null;
            /**
             * @description Of `email`: one mail an hour or a day with all messages since the previous one
             * @enum {string}
             */
            digest: "off" | "hourly" | "daily";
            /** @description The local hour of a daily digest */
            digestHour: number | null;
            /** @description The time zone of `digestHour`; null unless `digest` is `daily` */
            digestTimezone: string | null;
            /** @description Whether alerts are sent in spite of `quiet` and `minIntervalMinutes` */
            urgent: boolean;
            /**
             * Format: date-time
             * @description When it was created
             */
            createdAt: string;
        };
        ChannelAttempt: {
            /** @description The id, which never changes */
            id: string;
            /** @description The same for each attempt of a delivery */
            deliveryId: string;
            /** @description The channel */
            channelId: string;
            /**
             * @description The kind of event
             * @enum {string}
             */
            event: "task.created" | "task.updated" | "task.deleted" | "task.started" | "task.completed" | "task.failed" | "execution.started" | "execution.completed" | "execution.failed" | "task.changed" | "task.overdue" | "task.failing" | "task.recovered" | "task.expensive" | "task.slow" | "task.degraded" | "usage.alert" | "scheduler.silent" | "test" | "notification" | "digest";
            /** @description Null if there was no response, and of `email` */
            statusCode: number | null;
            /** @description Milliseconds; 0 if there was no connection */
            responseTime: number;
            /** @description The number of the attempt, from 1 */
            attempt: number;
            /** @description `true` on success, `false` on an error */
            success: boolean;
            /** @description Why the attempt failed */
            error: string | null;
            /**
             * Format: date-time
             * @description When it happened
             */
            timestamp: string;
        };
        Session: {
            /**
             * Format: uuid
             * @description The id, which never changes
             */
            id: string;
            /** @description The `User-Agent` of the sign-in */
            userAgent: string | null;
            /** @description The IP address of the request */
            address: string | null;
            /**
             * Format: date-time
             * @description When it was created
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When the session was last used, with a precision of one minute
             */
            lastUsedAt: string;
            /**
             * Format: date-time
             * @description When it expires; null for never
             */
            expiresAt: string;
            /** @description Whether it is the session of this request */
            current: boolean;
        };
        Factor: {
            /**
             * Format: uuid
             * @description The id, which never changes
             */
            id: string;
            /**
             * @description `totp` is a code of an authenticator app
             * @enum {string}
             */
            kind: "passkey" | "totp";
            /** @description The name */
            name: string;
            /**
             * Format: date-time
             * @description When it was created
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When it was last used; null if never
             */
            lastUsedAt: string | null;
        };
        Notification: {
            /** @description The id, which never changes */
            id: number;
            /** @description `usage.alert`, `webhook.failed`, `channel.failed`, `task.failed`, the kind of an alert, or `alert.undelivered`; others may be added */
            kind: string;
            /** @description The notification in short */
            title: string;
            /** @description A sentence for people */
            message: string;
            /**
             * Format: date-time
             * @description When it was marked as read; null if unread
             */
            readAt: string | null;
            /**
             * Format: date-time
             * @description When it was created
             */
            createdAt: string;
        };
        UsageAlert: {
            /** @description The id, which never changes */
            id: number;
            /** @description Percent of a monthly limit */
            threshold: number;
            /** @description Whether a mail is sent */
            notifyEmail: boolean;
            /** @description Whether the event `usage.alert` is sent */
            notifyWebhook: boolean;
        };
        Upload: {
            /** @description The URL of the file; a data URL if `storage` is `base64` */
            url: string;
            /** @description The name */
            name: string;
            /** @description Bytes */
            size: number;
            /** @description MIME type: the declared one if it is accepted, or else the one of the extension */
            type: string;
            /**
             * Format: date-time
             * @description When it was uploaded
             */
            uploadedAt: string;
            /**
             * @description `blob` for a file with a URL, `base64` for a data URL
             * @enum {string}
             */
            storage: "blob" | "base64";
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    register: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Alice",
                 *       "email": "alice@example.com",
                 *       "password": "correct-Horse-7",
                 *       "timezone": "Europe/Lisbon"
                 *     }
                 */
                "application/json": {
                    /** @description The name. Spaces at its ends are removed */
                    name: string;
                    /**
                     * Format: email
                     * @description The e-mail address that the account signs in with; case-insensitive and trimmed
                     */
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
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "user": {
                     *         "id": 7,
                     *         "email": "alice@example.com",
                     *         "name": "Alice",
                     *         "createdAt": "2026-11-19T15:58:40.512Z"
                     *       }
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `true` on success, `false` on an error
                         * @enum {boolean}
                         */
                        success: true;
                        /** @description The account */
                        user: {
                            /** @description The id, which never changes */
                            id: number;
                            /** @description The e-mail address that the account signs in with, in lower case */
                            email: string;
                            /** @description The name of the user */
                            name: string;
                            /**
                             * Format: date-time
                             * @description When it was created
                             */
                            createdAt: string;
                        };
                    };
                };
            };
        };
    };
    login: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "email": "alice@example.com",
                 *       "password": "correct-Horse-7"
                 *     }
                 */
                "application/json": {
                    /**
                     * Format: email
                     * @description The e-mail address that the account signs in with; case-insensitive and trimmed
                     */
                    email: string;
                    /**
                     * Format: password
                     * @description The current password
                     */
                    password: string;
                };
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "user": {
                     *         "id": 7,
                     *         "email": "alice@example.com",
                     *         "name": "Alice",
                     *         "role": "USER"
                     *       },
                     *       "token": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI3In0.bm90LWEtc2lnbmF0dXJl"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `true` on success, `false` on an error
                         * @enum {boolean}
                         */
                        success: true;
                        /** @description The account */
                        user: {
                            /** @description The id, which never changes */
                            id: number;
                            /** @description The e-mail address that the account signs in with, in lower case */
                            email: string;
                            /** @description The name of the user */
                            name: string;
                            /**
                             * @description `ADMIN` may call the operations of administrators
                             * @enum {string}
                             */
                            role: "USER" | "ADMIN";
                        };
                        /** @description The session token for `Authorization: Bearer`, if it was requested */
                        token?: string;
                    };
                };
            };
        };
    };
    logout: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "message": "You are signed out."
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `true` on success, `false` on an error
                         * @enum {boolean}
                         */
                        success: true;
                        /** @description A sentence for people */
                        message: string;
                    };
                };
            };
        };
    };
    getSession: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "authenticated": true,
                     *       "user": {
                     *         "id": 7,
                     *         "email": "alice@example.com",
                     *         "name": "Alice",
                     *         "role": "USER",
                     *         "timezone": "Europe/Lisbon",
                     *         "createdAt": "2026-11-19T15:58:40.512Z"
                     *       }
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description Whether a user is signed in
                         * @enum {boolean}
                         */
                        authenticated: true;
                        /** @description The account */
                        user: {
                            /** @description The id, which never changes */
                            id: number;
                            /** @description The e-mail address that the account signs in with, in lower case */
                            email: string;
                            /** @description The name of the user */
                            name: string;
                            /**
                             * @description `ADMIN` may call the operations of administrators
                             * @enum {string}
                             */
                            role: "USER" | "ADMIN";
                            /** @description IANA time zone name; null if none is set */
                            timezone: string | null;
                            /**
                             * Format: date-time
                             * @description When it was created
                             */
                            createdAt: string;
                        };
                    };
                };
            };
        };
    };
    confirmSession: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "password": "correct-Horse-7"
                 *     }
                 */
                "application/json": {
                    /**
                     * Format: password
                     * @description The current password
                     */
                    password?: string;
                    /** @description Six digits of the authenticator app */
                    code?: string;
                    /** @description Works once. Capitals, spaces and dashes do not matter */
                    recoveryCode?: string;
                    /** @description `PublicKeyCredential.toJSON()` of the browser */
                    response?: {
                        /** @description The id, which never changes */
                        id: string;
                        /** @description As the `id` */
                        rawId: string;
                        /**
                         * @description The kind of coupon
                         * @enum {string}
                         */
                        type: "public-key";
                        /** @description The answer */
                        response: {
                            /** @description In base64url */
                            clientDataJSON: string;
                            /** @description In base64url */
                            authenticatorData: string;
                            /** @description In base64url */
                            signature: string;
                        };
                    };
                };
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "message": "The session is confirmed for 15 minutes."
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `true` on success, `false` on an error
                         * @enum {boolean}
                         */
                        success: true;
                        /** @description A sentence for people */
                        message: string;
                    };
                };
            };
        };
    };
    listSessions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "sessions": [
                     *         {
                     *           "id": "0f9a7c52-3b1e-4d86-8a40-6e2b5d9c7f13",
                     *           "userAgent": "curl/8.15.0",
                     *           "address": "203.0.113.24",
                     *           "createdAt": "2026-11-19T15:58:40.512Z",
                     *           "lastUsedAt": "2026-11-20T09:15:27.204Z",
                     *           "expiresAt": "2026-11-26T15:58:40.512Z",
                     *           "current": true
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `true` on success, `false` on an error
                         * @enum {boolean}
                         */
                        success: true;
                        /** @description The sessions of the user */
                        sessions: components["schemas"]["Session"][];
                    };
                };
            };
        };
    };
    endSession: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id, which never changes
                 * @example 0f9a7c52-3b1e-4d86-8a40-6e2b5d9c7f13
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "message": "The session is ended."
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `true` on success, `false` on an error
                         * @enum {boolean}
                         */
                        success: true;
                        /** @description A sentence for people */
                        message: string;
                    };
                };
            };
        };
    };
    listFactors: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "factors": [
                     *         {
                     *           "id": "6c1d9a40-2f3b-4a77-8d15-90b2e4c7f3a1",
                     *           "kind": "totp",
                     *           "name": "Phone",
                     *           "createdAt": "2026-11-19T16:02:11.038Z",
                     *           "lastUsedAt": "2026-11-20T09:15:27.204Z"
                     *         }
                     *       ],
                     *       "recoveryCodesLeft": 10
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `true` on success, `false` on an error
                         * @enum {boolean}
                         */
                        success: true;
                        /** @description The second factors */
                        factors: components["schemas"]["Factor"][];
                        /** @description Recovery codes that were not used yet */
                        recoveryCodesLeft: number;
                    };
                };
            };
        };
    };
    createTotp: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Phone"
                 *     }
                 */
                "application/json": {
                    /** @description For its owner. Spaces at its ends are removed */
                    name?: string;
                };
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "factor": {
                     *         "id": "6c1d9a40-2f3b-4a77-8d15-90b2e4c7f3a1",
                     *         "kind": "totp",
                     *         "name": "Phone",
                     *         "createdAt": "2026-11-19T16:02:11.038Z",
                     *         "lastUsedAt": null
                     *       },
                     *       "secret": "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP",
                     *       "uri": "otpauth://totp/Carillon:alice%40example.com?issuer=Carillon&secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&algorithm=SHA1&digits=6&period=30"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `true` on success, `false` on an error
                         * @enum {boolean}
                         */
                        success: true;
                        /** @description The second factor */
                        factor: components["schemas"]["Factor"];
                        /** @description Base 32 */
                        secret: string;
                        /** @description `otpauth://totp/…` */
                        uri: string;
                    };
                };
            };
        };
    };
    confirmTotp: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id, which never changes
                 * @example 6c1d9a40-2f3b-4a77-8d15-90b2e4c7f3a1
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "code": "492039"
                 *     }
                 */
                "application/json": {
                    /** @description Six digits of the authenticator app */
                    code: string;
                };
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "recoveryCodes": [
                     *         "4k7m-92qx-d0fz-p6wt"
                     *       ]
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `true` on success, `false` on an error
                         * @enum {boolean}
                         */
                        success: true;
                        /** @description Ten codes with the first factor, which are not shown again; otherwise none */
                        recoveryCodes: string[];
                    };
                };
            };
        };
    };
    deleteFactor: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id, which never changes
                 * @example 6c1d9a40-2f3b-4a77-8d15-90b2e4c7f3a1
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "message": "The second factor is deleted."
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `true` on success, `false` on an error
                         * @enum {boolean}
                         */
                        success: true;
                        /** @description A sentence for people */
                        message: string;
                    };
                };
            };
        };
    };
    createRecoveryCodes: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "recoveryCodes": [
                     *         "4k7m-92qx-d0fz-p6wt"
                     *       ]
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `true` on success, `false` on an error
                         * @enum {boolean}
                         */
                        success: true;
                        /** @description Ten codes, which are not shown again. Each replaces a second factor once */
                        recoveryCodes: string[];
                    };
                };
            };
        };
    };
    answerTicket: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "ticket": "5f1d7a9c3e8b20465f1d7a9c3e8b20465f1d7a9c3e8b20465f1d7a9c3e8b2046",
                 *       "code": "492039"
                 *     }
                 */
                "application/json": {
                    /** @description `details.ticket` of the sign-in */
                    ticket: string;
                    /** @description Six digits of the authenticator app */
                    code?: string;
                    /** @description Works once. Capitals, spaces and dashes do not matter */
                    recoveryCode?: string;
                };
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "user": {
                     *         "id": 7,
                     *         "email": "alice@example.com",
                     *         "name": "Alice",
                     *         "role": "USER"
                     *       },
                     *       "token": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI3In0.bm90LWEtc2lnbmF0dXJl"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `true` on success, `false` on an error
                         * @enum {boolean}
                         */
                        success: true;
                        /** @description The account */
                        user: {
                            /** @description The id, which never changes */
                            id: number;
                            /** @description The e-mail address that the account signs in with, in lower case */
                            email: string;
                            /** @description The name of the user */
                            name: string;
                            /**
                             * @description `ADMIN` may call the operations of administrators
                             * @enum {string}
                             */
                            role: "USER" | "ADMIN";
                        };
                        /** @description The session token for `Authorization: Bearer`, if it was requested */
                        token?: string;
                    };
                };
            };
        };
    };
    listApps: {
        parameters: {
            query?: {
                /**
                 * @description The maximum number of entries on a page; more than 100 counts as 100
                 * @example 50
                 */
                limit?: number;
                /** @description `pagination.nextCursor` of the previous page */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "apps": [
                     *         {
                     *           "id": "6a0d8e51-3c7b-4f92-8e15-b4c9d2a7f360",
                     *           "name": "Claude",
                     *           "host": "claude.ai",
                     *           "scopes": [
                     *             "tasks:read",
                     *             "executions:read",
                     *             "usage:read"
                     *           ],
                     *           "createdAt": "2026-11-19T16:02:11.038Z",
                     *           "lastUsedAt": "2026-11-20T09:15:27.204Z"
                     *         }
                     *       ],
                     *       "pagination": {
                     *         "limit": 50,
                     *         "hasMore": false,
                     *         "nextCursor": null
                     *       }
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `true` on success, `false` on an error
                         * @enum {boolean}
                         */
                        success: true;
                        /** @description The connected apps */
                        apps: components["schemas"]["App"][];
                        /** @description The position of this page in the list */
                        pagination: {
                            /** @description The maximum number of entries on a page */
                            limit: number;
                            /** @description Whether there are entries after this page */
                            hasMore: boolean;
                            /** @description The `cursor` of the next page; null on the last one */
                            nextCursor: string | null;
                        };
                    };
                };
            };
        };
    };
    disconnectApp: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id, which never changes
                 * @example 6a0d8e51-3c7b-4f92-8e15-b4c9d2a7f360
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "message": "The app is disconnected."
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `true` on success, `false` on an error
                         * @enum {boolean}
                         */
                        success: true;
                        /** @description A sentence for people */
                        message: string;
                    };
                };
            };
        };
    };
    getUser: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "user": {
                     *         "id": 7,
                     *         "identityUserId": "local:5b0f2c1e-9d47-4a86-b3f0-1c8e6a2d7f45",
                     *         "email": "alice@example.com",
                     *         "name": "Alice",
                     *         "role": "USER",
                     *         "timezone": "Europe/Lisbon",
                     *         "isActive": true,
                     *         "trialEndsAt": "2026-12-03T15:58:40.512Z",
                     *         "createdAt": "2026-11-19T15:58:40.512Z",
                     *         "stats": {
                     *           "totalTasks": 1,
                     *           "activeTasks": 1,
                     *           "totalExecutions": 1,
                     *           "successRate": 100
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `true` on success, `false` on an error
                         * @enum {boolean}
                         */
                        success: true;
                        /** @description The account */
                        user: components["schemas"]["User"];
                    };
                };
            };
        };
    };
    deleteUser: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "currentPassword": "correct-Horse-7"
                 *     }
                 */
                "application/json": {
                    /**
                     * Format: password
                     * @description Required if the account has a password
                     */
                    currentPassword?: string;
                    /** @description The account's address; required if it has no password */
                    email?: string;
                };
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "message": "Your account and all its data are deleted."
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `true` on success, `false` on an error
                         * @enum {boolean}
                         */
                        success: true;
                        /** @description A sentence for people */
                        message: string;
                    };
                };
            };
        };
    };
    patchUser: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Alice A.",
                 *       "timezone": "Europe/Lisbon"
                 *     }
                 */
                "application/json": {
                    /** @description The name. Spaces at its ends are removed */
                    name?: string;
                    /**
                     * Format: email
                     * @description The e-mail address that the account signs in with; case-insensitive and trimmed
                     */
                    email?: string;
                    /**
                     * Format: password
                     * @description Required for another `email`, unless the account has no password
                     */
                    currentPassword?: string;
                    /**
                     * Format: time-zone
                     * @description IANA time zone name
                     */
                    timezone?: string | null;
                    /** @description The user's own key for the AI service; encrypted at rest and never returned. Null removes it */
                    encryptedProviderKey?: string | null;
                };
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "user": {
                     *         "id": 7,
                     *         "name": "Alice A.",
                     *         "timezone": "Europe/Lisbon",
                     *         "updatedAt": "2026-11-20T09:15:27.204Z"
                     *       }
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `true` on success, `false` on an error
                         * @enum {boolean}
                         */
                        success: true;
                        /** @description The account */
                        user: {
                            /** @description The id, which never changes */
                            id: number;
                            /** @description The name of the user */
                            name: string;
                            /** @description IANA time zone name; null if none is set */
                            timezone: string | null;
                            /**
                             * Format: date-time
                             * @description When it was last changed
                             */
                            updatedAt: string;
                        };
                    };
                };
            };
        };
    };
    changePassword: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "currentPassword": "correct-Horse-7",
                 *       "newPassword": "battery-Staple-8"
                 *     }
                 */
                "application/json": {
                    /**
                     * Format: password
                     * @description The current password
                     */
                    currentPassword: string;
                    /**
                     * Format: password
                     * @description At least 8 characters with an upper-case letter, a lower-case letter and a digit
                     */
                    newPassword: string;
                };
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "message": "Your password is changed. All other sessions are ended."
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `true` on success, `false` on an error
                         * @enum {boolean}
                         */
                        success: true;
                        /** @description A sentence for people */
                        message: string;
                    };
                };
            };
        };
    };
    getUserSettings: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "settings": {
                     *         "email": "alice@example.com",
                     *         "pendingEmail": null,
                     *         "language": "en",
                     *         "notificationPreferences": {
                     *           "email": true,
                     *           "webhook": true
                     *         },
                     *         "webhookUrl": "https://hooks.example.com/alice",
                     *         "webhookId": "3f6c9b5e-8a1d-4c57-9a43-0d5f6a1b2c3d",
                     *         "notificationEmails": [
                     *           "team@example.com"
                     *         ],
                     *         "unconfirmedEmails": [
                     *           "team@example.com"
                     *         ],
                     *         "channels": [],
                     *         "hasModelRouterApiKey": false
                     *       }
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `true` on success, `false` on an error
                         * @enum {boolean}
                         */
                        success: true;
                        /** @description The current settings */
                        settings: {
                            /** @description The e-mail address that the account signs in with, in lower case */
                            email: string;
                            /** @description The new e-mail address until it is confirmed; null if there is none */
                            pendingEmail: string | null;
                            /**
                             * @description The language of pages, mails, messages of channels, alerts and notifications
                             * @enum {string}
                             */
                            language: "en" | "pt-BR";
                            /** @description The enabled notification channels */
                            notificationPreferences: {
                                /** @description Whether notifications are mailed */
                                email: boolean;
                                /** @description Whether events are sent to `webhookUrl` */
                                webhook: boolean;
                            };
                            /** @description Receives `task.completed`, `task.failed` and `usage.alert` through its webhook */
                            webhookUrl: string | null;
                            /** @description The id of that webhook, for its log, its secret and its test */
                            webhookId: string | null;
                            /** @description Receive notifications in addition to the account's address, once they are confirmed */
                            notificationEmails: string[];
                            /** @description Those of `notificationEmails`, of the `notificationEmail` of tasks and of e-mail channels that get nothing but a link before it is opened. Saving an address again mails another link once the last one is an hour old */
                            unconfirmedEmails: string[];
                            /** @description Ids of the channels that get the account's notifications */
                            channels: string[];
                            /** @description Whether the account has a personal key for the AI service; the key itself is never returned */
                            hasModelRouterApiKey: boolean;
                        };
                    };
                };
            };
        };
    };
    changeUserSettings: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "webhookUrl": "https://hooks.example.com/alice",
                 *       "notificationEmails": [
                 *         "team@example.com"
                 *       ]
                 *     }
                 */
                "application/json": {
                    /**
                     * Format: email
                     * @description The e-mail address that the account signs in with; case-insensitive and trimmed
                     */
                    email?: string;
                    /**
                     * Format: password
                     * @description Required for another `email`, unless the account has no password
                     */
                    currentPassword?: string;
                    /**
                     * @description The language of pages, mails, messages of channels, alerts and notifications
                     * @enum {string}
                     */
                    language?: "en" | "pt-BR";
                    /** @description The enabled notification channels */
                    notificationPreferences?: {
                        /** @description Whether notifications are mailed */
                        email?: boolean;
                        /** @description Whether events are sent to `webhookUrl` */
                        webhook?: boolean;
                    };
                    /** @description The user's own key for the AI service; encrypted at rest and never returned. Null removes it */
                    modelRouterApiKey?: string | null;
                    /**
                     * Format: http-url
                     * @description A URL that receives the outcomes of runs through its webhook; null for none
                     */
                    webhookUrl?: string | null;
                    /** @description Duplicates are ignored; an empty list for none */
                    notificationEmails?: string[];
                    /** @description Ids of channels that get the account's notifications. Duplicates are ignored; an empty list for none */
                    channels?: string[];
                };
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "settings": {
                     *         "email": "alice@example.com",
                     *         "pendingEmail": null,
                     *         "language": "en",
                     *         "notificationPreferences": {
                     *           "email": true,
                     *           "webhook": true
                     *         },
                     *         "webhookUrl": "https://hooks.example.com/alice",
                     *         "webhookId": "3f6c9b5e-8a1d-4c57-9a43-0d5f6a1b2c3d",
                     *         "notificationEmails": [
                     *           "team@example.com"
                     *         ],
                     *         "unconfirmedEmails": [
                     *           "team@example.com"
                     *         ],
                     *         "channels": [],
                     *         "hasModelRouterApiKey": false
                     *       }
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `true` on success, `false` on an error
                         * @enum {boolean}
                         */
                        success: true;
                        /** @description The current settings */
                        settings: {
                            /** @description The e-mail address that the account signs in with, in lower case */
                            email: string;
                            /** @description The new e-mail address until it is confirmed; null if there is none */
                            pendingEmail: string | null;
                            /**
                             * @description The language of pages, mails, messages of channels, alerts and notifications
                             * @enum {string}
                             */
                            language: "en" | "pt-BR";
                            /** @description The enabled notification channels */
                            notificationPreferences: {
                                /** @description Whether notifications are mailed */
                                email: boolean;
                                /** @description Whether events are sent to `webhookUrl` */
                                webhook: boolean;
                            };
                            /** @description Receives `task.completed`, `task.failed` and `usage.alert` through its webhook */
                            webhookUrl: string | null;
                            /** @description The id of that webhook, for its log, its secret and its test */
                            webhookId: string | null;
                            /** @description Receive notifications in addition to the account's address, once they are confirmed */
                            notificationEmails: string[];
                            /** @description Those of `notificationEmails`, of the `notificationEmail` of tasks and of e-mail channels that get nothing but a link before it is opened. Saving an address again mails another link once the last one is an hour old */
                            unconfirmedEmails: string[];
                            /** @description Ids of the channels that get the account's notifications */
                            channels: string[];
                            /** @description Whether the account has a personal key for the AI service; the key itself is never returned */
                            hasModelRouterApiKey: boolean;
                        };
                    };
                };
            };
        };
    };
    listApiKeys: {
        parameters: {
            query?: {
                /**
                 * @description The maximum number of entries on a page; more than 100 counts as 100
                 * @example 25
                 */
                limit?: number;
                /** @description `pagination.nextCursor` of the previous page */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "keys": [
                     *         {
                     *           "id": "6a0d8e51-3c7b-4f92-8e15-b4c9d2a7f360",
                     *           "name": "Nightly report",
                     *           "prefix": "crl_4fK9mQ2x",
                     *           "scopes": [
                     *             "tasks:read",
                     *             "executions:read"
                     *           ],
                     *           "expiresAt": "2027-11-19T00:00:00.000Z",
                     *           "lastUsedAt": "2026-11-20T09:15:27.204Z",
                     *           "createdAt": "2026-11-19T16:02:11.038Z"
                     *         }
                     *       ],
                     *       "pagination": {
                     *         "limit": 25,
                     *         "hasMore": false,
                     *         "nextCursor": null
                     *       }
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `true` on success, `false` on an error
                         * @enum {boolean}
                         */
                        success: true;
                        /** @description The API keys */
                        keys: components["schemas"]["ApiKey"][];
                        /** @description The position of this page in the list */
                        pagination: {
                            /** @description The maximum number of entries on a page */
                            limit: number;
                            /** @description Whether there are entries after this page */
                            hasMore: boolean;
                            /** @description The `cursor` of the next page; null on the last one */
                            nextCursor: string | null;
                        };
                    };
                };
            };
        };
    };
    createApiKey: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Nightly report",
                 *       "scopes": [
                 *         "tasks:read",
                 *         "executions:read"
                 *       ],
                 *       "expiresAt": "2027-11-19T00:00:00Z"
                 *     }
                 */
                "application/json": {
                    /** @description For its owner. Spaces at its ends are removed */
                    name: string;
                    /** @description What the key may do. Duplicates are ignored */
                    scopes: ("tasks:read" | "tasks:write" | "executions:read" | "executions:run" | "agent:run" | "uploads:read" | "uploads:write" | "webhooks:read" | "webhooks:write" | "usage:read" | "events:read" | "profile:read" | "profile:write" | "admin")[];
                    /**
                     * Format: date-time
                     * @description In the future. Null for a key that does not expire
                     */
                    expiresAt?: string | null;
                };
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "key": {
                     *         "id": "6a0d8e51-3c7b-4f92-8e15-b4c9d2a7f360",
                     *         "name": "Nightly report",
                     *         "prefix": "crl_4fK9mQ2x",
                     *         "scopes": [
                     *           "tasks:read",
                     *           "executions:read"
                     *         ],
                     *         "expiresAt": "2027-11-19T00:00:00.000Z",
                     *         "lastUsedAt": null,
                     *         "createdAt": "2026-11-19T16:02:11.038Z"
                     *       },
                     *       "secret": "crl_4fK9mQ2x…"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `true` on success, `false` on an error
                         * @enum {boolean}
                         */
                        success: true;
                        /** @description The API key */
                        key: components["schemas"]["ApiKey"];
                        /** @description `crl_` and 38 letters and digits */
                        secret: string;
                    };
                };
            };
        };
    };
    deleteApiKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id, which never changes
                 * @example 6a0d8e51-3c7b-4f92-8e15-b4c9d2a7f360
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "message": "The API key is deleted."
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `true` on success, `false` on an error
                         * @enum {boolean}
                         */
                        success: true;
                        /** @description A sentence for people */
                        message: string;
                    };
                };
            };
        };
    };
    changeApiKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id, which never changes
                 * @example 6a0d8e51-3c7b-4f92-8e15-b4c9d2a7f360
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Weekly report",
                 *       "expiresAt": null
                 *     }
                 */
                "application/json": {
                    /** @description For its owner. Spaces at its ends are removed */
                    name?: string;
                    /**
                     * Format: date-time
                     * @description In the future. Null for a key that does not expire
                     */
                    expiresAt?: string | null;
                };
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "key": {
                     *         "id": "6a0d8e51-3c7b-4f92-8e15-b4c9d2a7f360",
                     *         "name": "Weekly report",
                     *         "prefix": "crl_4fK9mQ2x",
                     *         "scopes": [
                     *           "tasks:read",
                     *           "executions:read"
                     *         ],
                     *         "expiresAt": null,
                     *         "lastUsedAt": "2026-11-20T09:15:27.204Z",
                     *         "createdAt": "2026-11-19T16:02:11.038Z"
                     *       }
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `true` on success, `false` on an error
                         * @enum {boolean}
                         */
                        success: true;
                        /** @description The API key */
                        key: components["schemas"]["ApiKey"];
                    };
                };
            };
        };
    };
    listSecrets: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "secrets": [
                     *         {
                     *           "id": "1b7e4d92-58c0-4a3f-b6d1-90e2f7c5a814",
                     *           "name": "tracker",
                     *           "host": "api.example.com",
                     *           "header": "Authorization",
                     *           "createdAt": "2026-11-19T16:02:11.038Z",
                     *           "lastUsedAt": "2026-11-20T09:15:27.204Z"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `true` on success, `false` on an error
                         * @enum {boolean}
                         */
                        success: true;
                        /** @description The secrets, without their values */
                        secrets: components["schemas"]["Secret"][];
                    };
                };
            };
        };
    };
    createSecret: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "tracker",
                 *       "host": "api.example.com",
                 *       "header": "Authorization",
                 *       "value": "Bearer 5f2cd10e"
                 *     }
                 */
                "application/json": {
                    /** @description Unique in the account. Sources of tasks name it */
                    name: string;
                    /**
                     * Format: host
                     * @description The only host that receives it, such as `api.example.com` or `example.com:8443`
                     */
                    host: string;
                    /**
                     * Format: header-name
                     * @description The name of the header, such as `Authorization`
                     */
                    header: string;
                    /**
                     * Format: header-value
                     * @description The whole value of the header, such as `Bearer …`. It is never returned
                     */
                    value: string;
                };
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "secret": {
                     *         "id": "1b7e4d92-58c0-4a3f-b6d1-90e2f7c5a814",
                     *         "name": "tracker",
                     *         "host": "api.example.com",
                     *         "header": "Authorization",
                     *         "createdAt": "2026-11-19T16:02:11.038Z",
                     *         "lastUsedAt": null
                     *       }
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `true` on success, `false` on an error
                         * @enum {boolean}
                         */
                        success: true;
                        /** @description The secret, without its value */
                        secret: components["schemas"]["Secret"];
                    };
                };
            };
        };
    };
    deleteSecret: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id, which never changes
                 * @example 1b7e4d92-58c0-4a3f-b6d1-90e2f7c5a814
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "message": "The secret is deleted."
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `true` on success, `false` on an error
                         * @enum {boolean}
                         */
                        success: true;
                        /** @description A sentence for people */
                        message: string;
                    };
                };
            };
        };
    };
    previewSources: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "sources": [
                 *         {
                 *           "name": "price",
                 *           "url": "https://shop.example.com/bell",
                 *           "select": "#price"
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": {
                    /** @description What Carillon reads before each run, so that the model has fresh facts without tools: pages, feeds, JSON, texts and searches of the web. Sources that the prompt does not name follow it */
                    sources: {
                        /** @description Unique in the task. `{{source.<name>}}` in the prompt is the text of the source */
                        name: string;
                        /**
                         * Format: http-url
                         * @description The address of a page, a feed, JSON or a text. Either this or `search`
                         */
                        url?: string;
                        /** @description The part of `url` to read: a JSON Pointer such as `/items/0/price` for JSON, otherwise a CSS selector such as `#price` for HTML. Without it: the readable text of HTML, the new entries of a feed, JSON and text as they are */
                        select?: string;
                        /** @description The name of a secret of the account, which is sent to the host of `url` as a header */
                        secret?: string;
                        /** @description Words to search the web for with the operator's search engine: the source is the first ten results */
                        search?: string;
                    }[];
                };
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "sources": [
                     *         {
                     *           "name": "price",
                     *           "ok": true,
                     *           "contentType": "text/html",
                     *           "title": "Bell",
                     *           "text": "19 €",
                     *           "bytes": 48211,
                     *           "message": null
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `true` on success, `false` on an error
                         * @enum {boolean}
                         */
                        success: true;
                        /** @description In the order of the request */
                        sources: {
                            /** @description The name */
                            name: string;
                            /** @description Whether the source was read */
                            ok: boolean;
                            /** @description Without parameters; empty if the source does not say it */
                            contentType: string | null;
                            /** @description The title of a page or feed; null without one */
                            title: string | null;
                            /** @description What the model would be given, cut to 4,000 characters */
                            text: string | null;
                            /** @description The size of the source, unpacked */
                            bytes: number | null;
                            /** @description Why the source was not read */
                            message: string | null;
                        }[];
                    };
                };
            };
        };
    };
    createTask: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Morning sentence",
                 *       "description": "For the head of my notes.",
                 *       "prompt": "Write one sentence that begins a working day well.",
                 *       "scheduledFor": "2026-11-20T07:30:00.000Z",
                 *       "recurrence": "daily",
                 *       "timezone": "Europe/Lisbon"
                 *     }
                 */
                "application/json": {
                    /** @description The name of the task in files, unique for its owner. Default: `task-<id>` */
                    externalId?: string;
                    /** @description The name. Spaces at its ends are removed */
                    name: string;
                    /** @description The owner's description */
                    description?: string | null;
                    /** @description The prompt that is sent to the model */
                    prompt: string;
                    /**
                     * Format: date-time
                     * @description ISO 8601 with Z or an offset
                     */
                    scheduledFor: string;
                    /**
                     * @description How often the task runs; with a `recurrencePattern`, the closest recurrence
                     * @enum {string}
                     */
                    recurrence: "once" | "daily" | "weekly" | "monthly";
                    /** @description Five-field cron expression in the task's time zone; if present, it decides the next runs. A day matches the day of month or the weekday, or both where one of the two fields begins with `*`. Names, `L`, `W` and `#` are supported */
                    recurrencePattern?: string | null;
                    /** @description The number of days, weeks or months of `recurrence` between two runs, from the first run on; 1 with a `recurrencePattern` and with `once`. Default: 1 */
                    interval?: number;
                    /**
                     * Format: time-zone
                     * @description IANA time zone name
                     */
                    timezone: string;
                    /** @description A model of the default provider, or `<provider>/<model>` of another one */
                    aiModel?: string;
                    /** @description Default: 1024 */
                    maxTokens?: number;
                    /** @description In hundredths. Default: 70, which stands for 0.70 */
                    temperature?: number;
                    /** @description URLs or ids of the caller's uploads, at most 20 MiB together */
                    attachments?: string[];
                    /**
                     * Format: http-url
                     * @description Receives `execution.completed` and `execution.failed` of this task through its webhook; null for none
                     */
                    webhookUrl?: string | null;
                    /**
                     * Format: email
                     * @description Receives a mail when a run ends and no retry follows; null for none
                     */
                    notificationEmail?: string | null;
                    /** @description Ids of channels of the caller, which get the results and the alerts of this task. Duplicates are ignored */
                    channels?: string[];
                    /** @description The models that are asked in this order when `aiModel` cannot answer, within the same run. Default: none */
                    fallbackModels?: string[];
                    /** @description What the model is given in addition to the prompt */
                    context?: {
                        /** @description Default: true */
                        clock?: boolean;
                        /** @description Default: false */
                        previousResult?: boolean;
                    };
                    /** @description A JSON Schema (2020-12) of an object that every result must match: at most 16 KiB and 10 levels deep, with local references only */
                    outputSchema?: {
                        [key: string]: unknown;
                    } | null;
                    /** @description Tasks of the caller whose last success the prompt reads: `{{task.<name>}}` stands for its output, or for its text without an output schema. Default: none */
                    inputs?: {
                        /** @description The task that is read. It may read this one in turn: no run waits for another */
                        taskId: number;
                        /** @description Its name in the prompt, unique among the inputs: a small letter, then up to 31 small letters, digits or `_` */
                        name: string;
                    }[];
                    /** @description What the model may use during a run: the provider's own search (`web_search`) and its reader of web pages (`web_fetch`). The provider of the model must have them. Default: none */
                    tools?: ("web_search" | "web_fetch")[];
                    /** @description How often the model may use its tools in a run. Default: 5 */
                    maxToolUses?: number;
                    /** @description Whether the outcome is `not_done` if the model leaves one of the `tools` unused. Default: false */
                    requireTools?: boolean;
                    /** @description What Carillon reads before each run, so that the model has fresh facts without tools: pages, feeds, JSON, texts and searches of the web. Sources that the prompt does not name follow it. Default: none */
                    sources?: {
                        /** @description Unique in the task. `{{source.<name>}}` in the prompt is the text of the source */
                        name: string;
                        /**
                         * Format: http-url
                         * @description The address of a page, a feed, JSON or a text. Either this or `search`
                         */
                        url?: string;
                        /** @description The part of `url` to read: a JSON Pointer such as `/items/0/price` for JSON, otherwise a CSS selector such as `#price` for HTML. Without it: the readable text of HTML, the new entries of a feed, JSON and text as they are */
                        select?: string;
                        /** @description The name of a secret of the account, which is sent to the host of `url` as a header */
                        secret?: string;
                        /** @description Words to search the web for with the operator's search engine: the source is the first ten results */
                        search?: string;
                    }[];
                    /**
                     * @description `changed`: a planned run is left out, without a call to the model, if all sources are as at the last completed run. Runs on demand and retries always run. Needs a source. Default: `always`
                     * @enum {string}
                     */
                    runIf?: "always" | "changed";
                    /**
                     * @description When the task's own webhook and mail get a result: `always`, only if it changed (`change`), only failures (`failure`), or only news (`news`): a second, short call to the model decides whether the answer says something new. Failures are always delivered. Default: `always`
                     * @enum {string}
                     */
                    notify?: "always" | "change" | "failure" | "news";
                    /** @description Paths into the output to compare with the last success, such as `price` or `releases[].date`; without any, the whole output */
                    watch?: string[];
                    /**
                     * @description What makes up for runs that were missed while the service was down: one run (`latest`), nothing (`none`), or the latest 10 (`all`). Default: `latest`
                     * @enum {string}
                     */
                    missed?: "latest" | "none" | "all";
                    /**
                     * @description What happens to a planned run while a run of the task is pending or running: it is skipped, one is queued, or it replaces the others, which are cancelled. Default: `skip`
                     * @enum {string}
                     */
                    overlap?: "skip" | "queue" | "cancel";
                    /**
                     * Format: date-time
                     * @description No run is planned at this instant or later, and the task is completed after its last run before; null for never
                     */
                    endsAt?: string | null;
                    /** @description The maximum number of planned runs: the task is completed once the last of them has ended; null for no limit. Runs on demand, retries and runs that were skipped or missed do not count */
                    maxRuns?: number | null;
                    /**
                     * Format: date-time
                     * @description The first run is the first one of the schedule at this instant or later; null for no pause
                     */
                    pausedUntil?: string | null;
                    /** @description How long the model may take to answer, in milliseconds: at most the `AI_TIMEOUT_MS` of the service; null for that. Reading attachments does not count */
                    timeoutMs?: number | null;
                    /** @description What the runs of a UTC month may cost in USD; null for no limit. A run starts only if the most that it can cost is within the rest */
                    monthlyBudgetUsd?: number | null;
                    /** @description How often a failed run is retried. Default: 3 */
                    maxRetries?: number;
                    /** @description When to send an alert; a rule that is left out is off. Null: 15 minutes overdue, 3 failures in a row and 3 answers of a fallback model in a row, if the task has a webhook or a mail address */
                    alerts?: {
                        /** @description Minutes after which a planned run is overdue */
                        overdueMinutes?: number;
                        /** @description Failed runs in a row after which the task is failing */
                        failuresInRow?: number;
                        /** @description Cost of a run in USD */
                        costAboveUsd?: number;
                        /** @description Duration of a run in milliseconds */
                        durationAboveMs?: number;
                        /** @description Runs in a row that a fallback model answered */
                        fallbacksInRow?: number;
                    } | null;
                    /**
                     * @description Default: `active`
                     * @enum {string}
                     */
                    status?: "active" | "paused";
                };
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "taskId": 42
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `true` on success, `false` on an error
                         * @enum {boolean}
                         */
                        success: true;
                        /** @description The task, by id */
                        taskId: number;
                    };
                };
            };
        };
    };
    listTasks: {
        parameters: {
            query?: {
                /**
                 * @description The status
                 * @example active
                 */
                status?: "active" | "paused" | "completed" | "failed";
                /** @description Part of the name */
                search?: string;
                /**
                 * @description The maximum number of entries on a page; more than 100 counts as 100
                 * @example 20
                 */
                limit?: number;
                /** @description The number of entries to skip */
                offset?: number;
                /** @description `pagination.nextCursor` of the previous page */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "tasks": [
                     *         {
                     *           "id": 42,
                     *           "userId": 7,
                     *           "externalId": "morning-sentence",
                     *           "name": "Morning sentence",
                     *           "description": "For the head of my notes.",
                     *           "prompt": "Write one sentence that begins a working day well.",
                     *           "scheduledFor": "2026-11-20T07:30:00.000Z",
                     *           "nextExecutionAt": "2026-11-21T07:30:00.000Z",
                     *           "recurrence": "daily",
                     *           "recurrencePattern": null,
                     *           "interval": 1,
                     *           "timezone": "Europe/Lisbon",
                     *           "aiModel": "openai/gpt-5-mini",
                     *           "fallbackModels": [],
                     *           "maxTokens": 1024,
                     *           "temperature": 70,
                     *           "status": "active",
                     *           "executionCount": 1,
                     *           "lastExecutionAt": "2026-11-20T07:30:00.412Z",
                     *           "attachments": [],
                     *           "webhookUrl": null,
                     *           "notificationEmail": null,
                     *           "channels": [],
                     *           "context": {
                     *             "clock": true,
                     *             "previousResult": false
                     *           },
                     *           "outputSchema": null,
                     *           "inputs": [],
                     *           "sources": [],
                     *           "runIf": "always",
                     *           "notify": "always",
                     *           "watch": [],
                     *           "missed": "latest",
                     *           "overlap": "skip",
                     *           "endsAt": null,
                     *           "maxRuns": null,
                     *           "pausedUntil": null,
                     *           "timeoutMs": null,
                     *           "monthlyBudgetUsd": null,
                     *           "tools": [],
                     *           "maxToolUses": 5,
                     *           "requireTools": false,
                     *           "maxRetries": 3,
                     *           "alerts": null,
                     *           "createdAt": "2026-11-19T16:02:11.038Z",
                     *           "updatedAt": "2026-11-19T16:02:11.038Z"
                     *         }
                     *       ],
                     *       "pagination": {
                     *         "total": 1,
                     *         "limit": 20,
                     *         "offset": 0,
                     *         "hasMore": false,
                     *         "nextCursor": null
                     *       }
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `true` on success, `false` on an error
                         * @enum {boolean}
                         */
                        success: true;
                        /** @description The tasks */
                        tasks: components["schemas"]["Task"][];
                        /** @description The position of this page in the list */
                        pagination: {
                            /** @description Null if the page was requested by `cursor` */
                            total: number | null;
                            /** @description The maximum number of entries on a page */
                            limit: number;
                            /** @description The number of entries to skip */
                            offset: number;
                            /** @description Whether there are entries after this page */
                            hasMore: boolean;
                            /** @description The `cursor` of the next page; null on the last one */
                            nextCursor: string | null;
                        };
                    };
                };
            };
        };
    };
    getTask: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id, which never changes
                 * @example 42
                 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "task": {
                     *         "id": 42,
                     *         "userId": 7,
                     *         "externalId": "morning-sentence",
                     *         "name": "Morning sentence",
                     *         "description": "For the head of my notes.",
                     *         "prompt": "Write one sentence that begins a working day well.",
                     *         "scheduledFor": "2026-11-20T07:30:00.000Z",
                     *         "nextExecutionAt": "2026-11-21T07:30:00.000Z",
                     *         "recurrence": "daily",
                     *         "recurrencePattern": null,
                     *         "interval": 1,
                     *         "timezone": "Europe/Lisbon",
                     *         "aiModel": "openai/gpt-5-mini",
                     *         "fallbackModels": [],
                     *         "maxTokens": 1024,
                     *         "temperature": 70,
                     *         "status": "active",
                     *         "executionCount": 1,
                     *         "lastExecutionAt": "2026-11-20T07:30:00.412Z",
                     *         "attachments": [],
                     *         "webhookUrl": null,
                     *         "notificationEmail": null,
                     *         "channels": [],
                     *         "context": {
                     *           "clock": true,
                     *           "previousResult": false
                     *         },
                     *         "outputSchema": null,
                     *         "inputs": [],
                     *         "sources": [],
                     *         "runIf": "always",
                     *         "notify": "always",
                     *         "watch": [],
                     *         "missed": "latest",
                     *         "overlap": "skip",
                     *         "endsAt": null,
                     *         "maxRuns": null,
                     *         "pausedUntil": null,
                     *         "timeoutMs": null,
                     *         "monthlyBudgetUsd": null,
                     *         "tools": [],
                     *         "maxToolUses": 5,
                     *         "requireTools": false,
                     *         "maxRetries": 3,
                     *         "alerts": null,
                     *         "createdAt": "2026-11-19T16:02:11.038Z",
                     *         "updatedAt": "2026-11-19T16:02:11.038Z"
                     *       }
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `true` on success, `false` on an error
                         * @enum {boolean}
                         */
                        success: true;
                        /** @description The task */
                        task: components["schemas"]["Task"];
                    };
                };
            };
        };
    };
    deleteTask: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id, which never changes
                 * @example 42
                 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "message": "The task is deleted."
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `true` on success, `false` on an error
                         * @enum {boolean}
                         */
                        success: true;
                        /** @description A sentence for people */
                        message: string;
                    };
                };
            };
        };
    };
    changeTask: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id, which never changes
                 * @example 42
                 */
                id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "status": "paused"
                 *     }
                 */
                "application/json": {
                    /** @description The name of the task in files, unique for its owner. Default: `task-<id>` */
                    externalId?: string;
                    /** @description The name. Spaces at its ends are removed */
                    name?: string;
                    /** @description The owner's description */
                    description?: string | null;
                    /** @description The prompt that is sent to the model */
                    prompt?: string;
                    /**
                     * Format: date-time
                     * @description ISO 8601 with Z or an offset
                     */
                    scheduledFor?: string;
                    /**
                     * @description How often the task runs; with a `recurrencePattern`, the closest recurrence
                     * @enum {string}
                     */
                    recurrence?: "once" | "daily" | "weekly" | "monthly";
                    /** @description Five-field cron expression in the task's time zone; if present, it decides the next runs. A day matches the day of month or the weekday, or both where one of the two fields begins with `*`. Names, `L`, `W` and `#` are supported */
                    recurrencePattern?: string | null;
                    /** @description The number of days, weeks or months of `recurrence` between two runs, from the first run on; 1 with a `recurrencePattern` and with `once`. Default: 1 */
                    interval?: number;
                    /**
                     * Format: time-zone
                     * @description IANA time zone name
                     */
                    timezone?: string;
                    /** @description A model of the default provider, or `<provider>/<model>` of another one */
                    aiModel?: string;
                    /** @description Default: 1024 */
                    maxTokens?: number;
                    /** @description In hundredths. Default: 70, which stands for 0.70 */
                    temperature?: number;
                    /** @description URLs or ids of the caller's uploads, at most 20 MiB together */
                    attachments?: string[];
                    /**
                     * Format: http-url
                     * @description Receives `execution.completed` and `execution.failed` of this task through its webhook; null for none
                     */
                    webhookUrl?: string | null;
                    /**
                     * Format: email
                     * @description Receives a mail when a run ends and no retry follows; null for none
                     */
                    notificationEmail?: string | null;
                    /** @description Ids of channels of the caller, which get the results and the alerts of this task. Duplicates are ignored */
                    channels?: string[];
                    /** @description The models that are asked in this order when `aiModel` cannot answer, within the same run. Default: none */
                    fallbackModels?: string[];
                    /** @description What the model is given in addition to the prompt */
                    context?: {
                        /** @description Default: true */
                        clock?: boolean;
                        /** @description Default: false */
                        previousResult?: boolean;
                    };
                    /** @description A JSON Schema (2020-12) of an object that every result must match: at most 16 KiB and 10 levels deep, with local references only */
                    outputSchema?: {
                        [key: string]: unknown;
                    } | null;
                    /** @description Tasks of the caller whose last success the prompt reads: `{{task.<name>}}` stands for its output, or for its text without an output schema. Default: none */
                    inputs?: {
                        /** @description The task that is read. It may read this one in turn: no run waits for another */
                        taskId: number;
                        /** @description Its name in the prompt, unique among the inputs: a small letter, then up to 31 small letters, digits or `_` */
                        name: string;
                    }[];
                    /** @description What the model may use during a run: the provider's own search (`web_search`) and its reader of web pages (`web_fetch`). The provider of the model must have them. Default: none */
                    tools?: ("web_search" | "web_fetch")[];
                    /** @description How often the model may use its tools in a run. Default: 5 */
                    maxToolUses?: number;
                    /** @description Whether the outcome is `not_done` if the model leaves one of the `tools` unused. Default: false */
                    requireTools?: boolean;
                    /** @description What Carillon reads before each run, so that the model has fresh facts without tools: pages, feeds, JSON, texts and searches of the web. Sources that the prompt does not name follow it. Default: none */
                    sources?: {
                        /** @description Unique in the task. `{{source.<name>}}` in the prompt is the text of the source */
                        name: string;
                        /**
                         * Format: http-url
                         * @description The address of a page, a feed, JSON or a text. Either this or `search`
                         */
                        url?: string;
                        /** @description The part of `url` to read: a JSON Pointer such as `/items/0/price` for JSON, otherwise a CSS selector such as `#price` for HTML. Without it: the readable text of HTML, the new entries of a feed, JSON and text as they are */
                        select?: string;
                        /** @description The name of a secret of the account, which is sent to the host of `url` as a header */
                        secret?: string;
                        /** @description Words to search the web for with the operator's search engine: the source is the first ten results */
                        search?: string;
                    }[];
                    /**
                     * @description `changed`: a planned run is left out, without a call to the model, if all sources are as at the last completed run. Runs on demand and retries always run. Needs a source. Default: `always`
                     * @enum {string}
                     */
                    runIf?: "always" | "changed";
                    /**
                     * @description When the task's own webhook and mail get a result: `always`, only if it changed (`change`), only failures (`failure`), or only news (`news`): a second, short call to the model decides whether the answer says something new. Failures are always delivered. Default: `always`
                     * @enum {string}
                     */
                    notify?: "always" | "change" | "failure" | "news";
                    /** @description Paths into the output to compare with the last success, such as `price` or `releases[].date`; without any, the whole output */
                    watch?: string[];
                    /**
                     * @description What makes up for runs that were missed while the service was down: one run (`latest`), nothing (`none`), or the latest 10 (`all`). Default: `latest`
                     * @enum {string}
                     */
                    missed?: "latest" | "none" | "all";
                    /**
                     * @description What happens to a planned run while a run of the task is pending or running: it is skipped, one is queued, or it replaces the others, which are cancelled. Default: `skip`
                     * @enum {string}
                     */
                    overlap?: "skip" | "queue" | "cancel";
                    /**
                     * Format: date-time
                     * @description No run is planned at this instant or later, and the task is completed after its last run before; null for never
                     */
                    endsAt?: string | null;
                    /** @description The maximum number of planned runs: the task is completed once the last of them has ended; null for no limit. Runs on demand, retries and runs that were skipped or missed do not count */
                    maxRuns?: number | null;
                    /**
                     * Format: date-time
                     * @description The first run is the first one of the schedule at this instant or later; null for no pause
                     */
                    pausedUntil?: string | null;
                    /** @description How long the model may take to answer, in milliseconds: at most the `AI_TIMEOUT_MS` of the service; null for that. Reading attachments does not count */
                    timeoutMs?: number | null;
                    /** @description What the runs of a UTC month may cost in USD; null for no limit. A run starts only if the most that it can cost is within the rest */
                    monthlyBudgetUsd?: number | null;
                    /** @description How often a failed run is retried. Default: 3 */
                    maxRetries?: number;
                    /** @description When to send an alert; a rule that is left out is off. Null: 15 minutes overdue, 3 failures in a row and 3 answers of a fallback model in a row, if the task has a webhook or a mail address */
                    alerts?: {
                        /** @description Minutes after which a planned run is overdue */
                        overdueMinutes?: number;
                        /** @description Failed runs in a row after which the task is failing */
                        failuresInRow?: number;
                        /** @description Cost of a run in USD */
                        costAboveUsd?: number;
                        /** @description Duration of a run in milliseconds */
                        durationAboveMs?: number;
                        /** @description Runs in a row that a fallback model answered */
                        fallbacksInRow?: number;
                    } | null;
                    /**
                     * @description `active` runs as scheduled, `paused` does not run
                     * @enum {string}
                     */
                    status?: "active" | "paused";
                };
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "task": {
                     *         "id": 42,
                     *         "userId": 7,
                     *         "externalId": "morning-sentence",
                     *         "name": "Morning sentence",
                     *         "description": "For the head of my notes.",
                     *         "prompt": "Write one sentence that begins a working day well.",
                     *         "scheduledFor": "2026-11-20T07:30:00.000Z",
                     *         "nextExecutionAt": null,
                     *         "recurrence": "daily",
                     *         "recurrencePattern": null,
                     *         "interval": 1,
                     *         "timezone": "Europe/Lisbon",
                     *         "aiModel": "openai/gpt-5-mini",
                     *         "fallbackModels": [],
                     *         "maxTokens": 1024,
                     *         "temperature": 70,
                     *         "status": "paused",
                     *         "executionCount": 1,
                     *         "lastExecutionAt": "2026-11-20T07:30:00.412Z",
                     *         "attachments": [],
                     *         "webhookUrl": null,
                     *         "notificationEmail": null,
                     *         "channels": [],
                     *         "context": {
                     *           "clock": true,
                     *           "previousResult": false
                     *         },
                     *         "outputSchema": null,
                     *         "inputs": [],
                     *         "sources": [],
                     *         "runIf": "always",
                     *         "notify": "always",
                     *         "watch": [],
                     *         "missed": "latest",
                     *         "overlap": "skip",
                     *         "endsAt": null,
                     *         "maxRuns": null,
                     *         "pausedUntil": null,
                     *         "timeoutMs": null,
                     *         "monthlyBudgetUsd": null,
                     *         "tools": [],
                     *         "maxToolUses": 5,
                     *         "requireTools": false,
                     *         "maxRetries": 3,
                     *         "alerts": null,
                     *         "createdAt": "2026-11-19T16:02:11.038Z",
                     *         "updatedAt": "2026-11-20T09:15:27.204Z"
                     *       }
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `true` on success, `false` on an error
                         * @enum {boolean}
                         */
                        success: true;
                        /** @description The task */
                        task: components["schemas"]["Task"];
                    };
                };
            };
        };
    };
    executeTask: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id, which never changes
                 * @example 42
                 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "executionId": 1208,
                     *       "status": "pending",
                     *       "startedAt": "2026-11-20T09:15:27.204Z"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `true` on success, `false` on an error
                         * @enum {boolean}
                         */
                        success: true;
                        /** @description The execution, by id */
                        executionId: number;
                        /**
                         * @description The status
                         * @enum {string}
                         */
                        status: "pending";
                        /**
                         * Format: date-time
                         * @description When it started; null before that
                         */
                        startedAt: string;
                    };
                };
            };
        };
    };
    duplicateTask: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id, which never changes
                 * @example 42
                 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "name": "Evening sentence"
                 *     }
                 */
                "application/json": {
                    /** @description Default: the name of the task with " (copy)". Spaces at its ends are removed */
                    name?: string;
                } | null;
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "task": {
                     *         "id": 43,
                     *         "userId": 7,
                     *         "externalId": "task-43",
                     *         "name": "Evening sentence",
                     *         "description": "For the head of my notes.",
                     *         "prompt": "Write one sentence that begins a working day well.",
                     *         "scheduledFor": "2026-11-20T07:30:00.000Z",
                     *         "nextExecutionAt": "2026-11-21T07:30:00.000Z",
                     *         "recurrence": "daily",
                     *         "recurrencePattern": null,
                     *         "interval": 1,
                     *         "timezone": "Europe/Lisbon",
                     *         "aiModel": "openai/gpt-5-mini",
                     *         "fallbackModels": [],
                     *         "maxTokens": 1024,
                     *         "temperature": 70,
                     *         "status": "active",
                     *         "executionCount": 0,
                     *         "lastExecutionAt": null,
                     *         "attachments": [],
                     *         "webhookUrl": null,
                     *         "notificationEmail": null,
                     *         "channels": [],
                     *         "context": {
                     *           "clock": true,
                     *           "previousResult": false
                     *         },
                     *         "outputSchema": null,
                     *         "inputs": [],
                     *         "sources": [],
                     *         "runIf": "always",
                     *         "notify": "always",
                     *         "watch": [],
                     *         "missed": "latest",
                     *         "overlap": "skip",
                     *         "endsAt": null,
                     *         "maxRuns": null,
                     *         "pausedUntil": null,
                     *         "timeoutMs": null,
                     *         "monthlyBudgetUsd": null,
                     *         "tools": [],
                     *         "maxToolUses": 5,
                     *         "requireTools": false,
                     *         "maxRetries": 3,
                     *         "alerts": null,
                     *         "createdAt": "2026-11-20T09:15:27.204Z",
                     *         "updatedAt": "2026-11-20T09:15:27.204Z"
                     *       }
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `true` on success, `false` on an error
                         * @enum {boolean}
                         */
                        success: true;
                        /** @description The task */
                        task: components["schemas"]["Task"];
                    };
                };
            };
        };
    };
    listOccurrences: {
        parameters: {
            query?: {
                /**
                 * @description The maximum number of entries on a page; more than 100 counts as 100
                 * @example 20
                 */
                limit?: number;
                /** @description `pagination.nextCursor` of the previous page */
                cursor?: string;
            };
            header?: never;
            path: {
                /**
                 * @description The id, which never changes
                 * @example 42
                 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "occurrences": [
                     *         {
                     *           "plannedFor": "2026-11-20T07:30:00.000Z",
                     *           "fate": "ran",
                     *           "recordedAt": "2026-11-20T07:30:00.287Z",
                     *           "executionId": 1207,
                     *           "startedAt": "2026-11-20T07:30:00.412Z",
                     *           "latenessMs": 412
                     *         }
                     *       ],
                     *       "pagination": {
                     *         "limit": 20,
                     *         "nextCursor": null
                     *       }
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `true` on success, `false` on an error
                         * @enum {boolean}
                         */
                        success: true;
                        /** @description The planned runs */
                        occurrences: components["schemas"]["Occurrence"][];
                        /** @description The position of this page in the list */
                        pagination: {
                            /** @description The maximum number of entries on a page */
                            limit: number;
                            /** @description The `cursor` of the next page; null on the last one */
                            nextCursor: string | null;
                        };
                    };
                };
            };
        };
    };
    listVersions: {
        parameters: {
            query?: {
                /**
                 * @description The maximum number of entries on a page; more than 100 counts as 100
                 * @example 20
                 */
                limit?: number;
                /** @description The number of entries to skip */
                offset?: number;
                /** @description `pagination.nextCursor` of the previous page */
                cursor?: string;
            };
            header?: never;
            path: {
                /**
                 * @description The id, which never changes
                 * @example 42
                 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "versions": [
                     *         {
                     *           "number": 2,
                     *           "at": "2026-11-20T09:15:27.204Z",
                     *           "by": 7,
                     *           "via": "page",
                     *           "fields": [
                     *             "prompt"
                     *           ]
                     *         },
                     *         {
                     *           "number": 1,
                     *           "at": "2026-11-19T16:02:11.038Z",
                     *           "by": 7,
                     *           "via": "page",
                     *           "fields": []
                     *         }
                     *       ],
                     *       "pagination": {
                     *         "total": 2,
                     *         "limit": 20,
                     *         "offset": 0,
                     *         "hasMore": false,
                     *         "nextCursor": null
                     *       }
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `true` on success, `false` on an error
                         * @enum {boolean}
                         */
                        success: true;
                        /** @description The versions */
                        versions: components["schemas"]["TaskVersion"][];
                        /** @description The position of this page in the list */
                        pagination: {
                            /** @description Null if the page was requested by `cursor` */
                            total: number | null;
                            /** @description The maximum number of entries on a page */
                            limit: number;
                            /** @description The number of entries to skip */
                            offset: number;
                            /** @description Whether there are entries after this page */
                            hasMore: boolean;
                            /** @description The `cursor` of the next page; null on the last one */
                            nextCursor: string | null;
                        };
                    };
                };
            };
        };
    };
    getVersion: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id, which never changes
                 * @example 42
                 */
                id: number;
                /**
                 * @description The number of the version
                 * @example 2
                 */
                number: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "version": {
                     *         "number": 2,
                     *         "at": "2026-11-20T09:15:27.204Z",
                     *         "by": 7,
                     *         "via": "page",
                     *         "fields": [
                     *           "prompt"
                     *         ],
                     *         "task": {
                     *           "prompt": "Write one sentence that begins a working day well.",
                     *           "aiModel": "openai/gpt-5-mini",
                     *           "fallbackModels": [],
                     *           "maxTokens": 1024,
                     *           "temperature": 70,
                     *           "timeoutMs": null,
                     *           "maxRetries": 3,
                     *           "context": {
                     *             "clock": true,
                     *             "previousResult": false
                     *           },
                     *           "outputSchema": null,
                     *           "inputs": [],
                     *           "sources": [],
                     *           "runIf": "always",
                     *           "tools": [],
                     *           "maxToolUses": 5,
                     *           "requireTools": false,
                     *           "attachments": [],
                     *           "channels": []
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `true` on success, `false` on an error
                         * @enum {boolean}
                         */
                        success: true;
                        /** @description The version of the service */
                        version: {
                            /** @description From 1, which is the creation */
                            number: number;
                            /**
                             * Format: date-time
                             * @description When the first change of the version was made
                             */
                            at: string;
                            /** @description The account that made it */
                            by: number;
                            /**
                             * @description The way: a page, this API, an assistant (`mcp`) or an import; `api` for version 1 of tasks that are older than versions
                             * @enum {string}
                             */
                            via: "page" | "api" | "mcp" | "import";
                            /** @description What differs from the version before; empty for the first one */
                            fields: ("prompt" | "aiModel" | "fallbackModels" | "maxTokens" | "temperature" | "timeoutMs" | "maxRetries" | "context" | "outputSchema" | "inputs" | "sources" | "runIf" | "tools" | "maxToolUses" | "requireTools" | "attachments")[];
                            /** @description What the runs of this version use, and the channels of the time when it was made */
                            task: {
                                /** @description The prompt that is sent to the model */
                                prompt: string;
                                /** @description The model, named as its provider does. Default: `defaultModel` of the system settings */
                                aiModel: string;
                                /** @description The models that are asked in this order when `aiModel` cannot answer, within the same run */
                                fallbackModels: string[];
                                /** @description The maximum number of output tokens */
                                maxTokens: number;
                                /** @description Hundredths: 70 stands for 0.70 */
                                temperature: number;
                                /** @description How long the model may take to answer, in milliseconds; null for the timeout of the service */
                                timeoutMs: number | null;
                                /** @description How often a failed run is retried */
                                maxRetries: number;
                                /** @description What the model is given in addition to the prompt */
                                context: {
                                    /** @description Whether a system message has the planned time, in the time zone of the task */
                                    clock: boolean;
                                    /** @description Whether the system message has the result of the last success */
                                    previousResult: boolean;
                                };
                                /** @description A JSON Schema (2020-12) of an object that every result must match: at most 16 KiB and 10 levels deep, with local references only */
                                outputSchema: {
                                    [key: string]: unknown;
                                } | null;
                                /** @description Tasks of the caller whose last success the prompt reads: `{{task.<name>}}` stands for its output, or for its text without an output schema */
                                inputs: {
                                    /** @description The task that is read. It may read this one in turn: no run waits for another */
                                    taskId: number;
                                    /** @description Its name in the prompt, unique among the inputs: a small letter, then up to 31 small letters, digits or `_` */
                                    name: string;
                                }[];
                                /** @description What Carillon reads before each run, so that the model has fresh facts without tools: pages, feeds, JSON, texts and searches of the web. Sources that the prompt does not name follow it */
                                sources: {
                                    /** @description Unique in the task. `{{source.<name>}}` in the prompt is the text of the source */
                                    name: string;
                                    /**
                                     * Format: http-url
                                     * @description The address of a page, a feed, JSON or a text. Either this or `search`
                                     */
                                    url?: string;
                                    /** @description The part of `url` to read: a JSON Pointer such as `/items/0/price` for JSON, otherwise a CSS selector such as `#price` for HTML. Without it: the readable text of HTML, the new entries of a feed, JSON and text as they are */
                                    select?: string;
                                    /** @description The name of a secret of the account, which is sent to the host of `url` as a header */
                                    secret?: string;
                                    /** @description Words to search the web for with the operator's search engine: the source is the first ten results */
                                    search?: string;
                                }[];
                                /**
                                 * @description `changed`: a planned run is left out, without a call to the model, if all sources are as at the last completed run. Runs on demand and retries always run. Needs a source
                                 * @enum {string}
                                 */
                                runIf: "always" | "changed";
                                /** @description What the model may use during a run: the provider's own search (`web_search`) and its reader of web pages (`web_fetch`) */
                                tools: ("web_search" | "web_fetch")[];
                                /** @description How often the model may use its tools in a run */
                                maxToolUses: number;
                                /** @description Whether the outcome is `not_done` if the model leaves one of the `tools` unused */
                                requireTools: boolean;
                                /** @description Ids of the attached uploads */
                                attachments: string[];
                                /** @description Ids of channels */
                                channels: string[];
                            };
                        };
                    };
                };
            };
        };
    };
    restoreVersion: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id, which never changes
                 * @example 42
                 */
                id: number;
                /**
                 * @description The number of the version
                 * @example 1
                 */
                number: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "task": {
                     *         "id": 42,
                     *         "userId": 7,
                     *         "externalId": "morning-sentence",
                     *         "name": "Morning sentence",
                     *         "description": "For the head of my notes.",
                     *         "prompt": "Write one sentence that begins a working day well.",
                     *         "scheduledFor": "2026-11-20T07:30:00.000Z",
                     *         "nextExecutionAt": "2026-11-21T07:30:00.000Z",
                     *         "recurrence": "daily",
                     *         "recurrencePattern": null,
                     *         "interval": 1,
                     *         "timezone": "Europe/Lisbon",
                     *         "aiModel": "openai/gpt-5-mini",
                     *         "fallbackModels": [],
                     *         "maxTokens": 1024,
                     *         "temperature": 70,
                     *         "status": "active",
                     *         "executionCount": 1,
                     *         "lastExecutionAt": "2026-11-20T07:30:00.412Z",
                     *         "attachments": [],
                     *         "webhookUrl": null,
                     *         "notificationEmail": null,
                     *         "channels": [],
                     *         "context": {
                     *           "clock": true,
                     *           "previousResult": false
                     *         },
                     *         "outputSchema": null,
                     *         "inputs": [],
                     *         "sources": [],
                     *         "runIf": "always",
                     *         "notify": "always",
                     *         "watch": [],
                     *         "missed": "latest",
                     *         "overlap": "skip",
                     *         "endsAt": null,
                     *         "maxRuns": null,
                     *         "pausedUntil": null,
                     *         "timeoutMs": null,
                     *         "monthlyBudgetUsd": null,
                     *         "tools": [],
                     *         "maxToolUses": 5,
                     *         "requireTools": false,
                     *         "maxRetries": 3,
                     *         "alerts": null,
                     *         "createdAt": "2026-11-19T16:02:11.038Z",
                     *         "updatedAt": "2026-11-20T09:15:27.204Z"
                     *       }
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `true` on success, `false` on an error
                         * @enum {boolean}
                         */
                        success: true;
                        /** @description The task */
                        task: components["schemas"]["Task"];
                    };
                };
            };
        };
    };
    skipNextRun: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id, which never changes
                 * @example 42
                 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "occurrence": {
                     *         "plannedFor": "2026-11-20T07:30:00.000Z",
                     *         "fate": "skipped_by_user",
                     *         "recordedAt": "2026-11-20T09:15:27.204Z",
                     *         "executionId": null,
                     *         "startedAt": null,
                     *         "latenessMs": null
                     *       },
                     *       "task": {
                     *         "id": 42,
                     *         "userId": 7,
                     *         "externalId": "morning-sentence",
                     *         "name": "Morning sentence",
                     *         "description": "For the head of my notes.",
                     *         "prompt": "Write one sentence that begins a working day well.",
                     *         "scheduledFor": "2026-11-20T07:30:00.000Z",
                     *         "nextExecutionAt": "2026-11-21T07:30:00.000Z",
                     *         "recurrence": "daily",
                     *         "recurrencePattern": null,
                     *         "interval": 1,
                     *         "timezone": "Europe/Lisbon",
                     *         "aiModel": "openai/gpt-5-mini",
                     *         "fallbackModels": [],
                     *         "maxTokens": 1024,
                     *         "temperature": 70,
                     *         "status": "active",
                     *         "executionCount": 1,
                     *         "lastExecutionAt": "2026-11-20T07:30:00.412Z",
                     *         "attachments": [],
                     *         "webhookUrl": null,
                     *         "notificationEmail": null,
                     *         "channels": [],
                     *         "context": {
                     *           "clock": true,
                     *           "previousResult": false
                     *         },
                     *         "outputSchema": null,
                     *         "inputs": [],
                     *         "sources": [],
                     *         "runIf": "always",
                     *         "notify": "always",
                     *         "watch": [],
                     *         "missed": "latest",
                     *         "overlap": "skip",
                     *         "endsAt": null,
                     *         "maxRuns": null,
                     *         "pausedUntil": null,
                     *         "timeoutMs": null,
                     *         "monthlyBudgetUsd": null,
                     *         "tools": [],
                     *         "maxToolUses": 5,
                     *         "requireTools": false,
                     *         "maxRetries": 3,
                     *         "alerts": null,
                     *         "createdAt": "2026-11-19T16:02:11.038Z",
                     *         "updatedAt": "2026-11-20T09:15:27.204Z"
                     *       }
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `true` on success, `false` on an error
                         * @enum {boolean}
                         */
                        success: true;
                        occurrence: components["schemas"]["Occurrence"];
                        /** @description The task */
                        task: components["schemas"]["Task"];
                    };
                };
            };
        };
    };
    backfillTask: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id, which never changes
                 * @example 42
                 */
                id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "from": "2026-11-17T00:00:00Z",
                 *       "to": "2026-11-20T00:00:00Z"
                 *     }
                 */
                "application/json": {
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
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "queued": 3
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `true` on success, `false` on an error
                         * @enum {boolean}
                         */
                        success: true;
                        /** @description How many runs are queued */
                        queued: number;
                    };
                };
            };
        };
    };
    listTemplates: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "templates": [
                     *         {
                     *           "id": "frost-and-storm",
                     *           "name": "Frost and storm",
                     *           "purpose": "Warns you the day before the plants or the roof need care.",
                     *           "category": "everyday",
                     *           "needs": [
                     *             "sources"
                     *           ],
                     *           "blanks": [
                     *             {
                     *               "key": "latitude",
                     *               "label": "Latitude of your place",
                     *               "example": "51.51"
                     *             }
                     *           ],
                     *           "task": {
                     *             "name": "Frost and storm",
                     *             "prompt": "Read the forecast below for the next 36 hours. Will there be frost or a storm?",
                     *             "recurrence": "daily",
                     *             "recurrencePattern": "0 16 * * *",
                     *             "timezone": "Europe/Lisbon",
                     *             "sources": [
                     *               {
                     *                 "name": "forecast",
                     *                 "url": "https://weather.example.com/forecast?latitude=[latitude]"
                     *               }
                     *             ]
                     *           }
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `true` on success, `false` on an error
                         * @enum {boolean}
                         */
                        success: true;
                        /** @description All of them */
                        templates: components["schemas"]["Template"][];
                    };
                };
            };
        };
    };
    getTaskTemplate: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id, which never changes
                 * @example 42
                 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "template": {
                     *         "id": "task-42",
                     *         "name": "Morning sentence",
                     *         "purpose": "For the head of my notes.",
                     *         "category": "own",
                     *         "needs": [],
                     *         "blanks": [],
                     *         "task": {
                     *           "name": "Morning sentence",
                     *           "prompt": "Write one sentence that begins a working day well.",
                     *           "recurrence": "daily",
                     *           "recurrencePattern": "30 7 * * *",
                     *           "timezone": "Europe/Lisbon"
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `true` on success, `false` on an error
                         * @enum {boolean}
                         */
                        success: true;
                        template: components["schemas"]["Template"];
                    };
                };
            };
        };
    };
    previewTask: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "scheduledFor": "2027-03-27T01:30:00Z",
                 *       "recurrence": "daily",
                 *       "timezone": "Europe/Lisbon",
                 *       "count": 2
                 *     }
                 */
                "application/json": {
                    /**
                     * Format: date-time
                     * @description ISO 8601 with Z or an offset
                     */
                    scheduledFor: string;
                    /**
                     * @description How often the task runs; with a `recurrencePattern`, the closest recurrence
                     * @enum {string}
                     */
                    recurrence: "once" | "daily" | "weekly" | "monthly";
                    /** @description Five-field cron expression in the task's time zone; if present, it decides the next runs. A day matches the day of month or the weekday, or both where one of the two fields begins with `*`. Names, `L`, `W` and `#` are supported */
                    recurrencePattern?: string | null;
                    /** @description The number of days, weeks or months of `recurrence` between two runs, from the first run on; 1 with a `recurrencePattern` and with `once`. Default: 1 */
                    interval?: number;
                    /**
                     * Format: time-zone
                     * @description IANA time zone name
                     */
                    timezone: string;
                    /**
                     * Format: date-time
                     * @description No run is planned at this instant or later, and the task is completed after its last run before; null for never
                     */
                    endsAt?: string | null;
                    /** @description The maximum number of planned runs: the task is completed once the last of them has ended; null for no limit. Runs on demand, retries and runs that were skipped or missed do not count */
                    maxRuns?: number | null;
                    /**
                     * Format: date-time
                     * @description The first run is the first one of the schedule at this instant or later; null for no pause
                     */
                    pausedUntil?: string | null;
                    /** @description Default: 10 */
                    count?: number;
                };
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "occurrences": [
                     *         {
                     *           "at": "2027-03-27T01:30:00.000Z",
                     *           "local": "2027-03-27T01:30:00+00:00[Europe/Lisbon]"
                     *         },
                     *         {
                     *           "at": "2027-03-28T01:30:00.000Z",
                     *           "local": "2027-03-28T02:30:00+01:00[Europe/Lisbon]",
                     *           "note": "The clocks go forward past 01:30 on 2027-03-28, so this runs at 02:30."
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `true` on success, `false` on an error
                         * @enum {boolean}
                         */
                        success: true;
                        /** @description The planned runs */
                        occurrences: {
                            /**
                             * Format: date-time
                             * @description The instant
                             */
                            at: string;
                            /** @description The same instant as wall-clock time in the task's time zone */
                            local: string;
                            /** @description Why the time deviates (a clock change, a short month, a pause), and why no run follows */
                            note?: string;
                        }[];
                    };
                };
            };
        };
    };
    previewPrompt: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "prompt": "What happened overnight, as of {{date}}?",
                 *       "taskId": 42
                 *     }
                 */
                "application/json": {
                    /** @description The prompt that is sent to the model */
                    prompt: string;
                    /** @description Default: the task's context, or the clock alone */
                    context?: {
                        /** @description Default: true */
                        clock?: boolean;
                        /** @description Default: false */
                        previousResult?: boolean;
                    };
                    /** @description The task whose name, time zone and last success are used */
                    taskId?: number;
                    /**
                     * Format: time-zone
                     * @description Default: the time zone of the task or the caller, or UTC
                     */
                    timezone?: string;
                };
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "system": "This is a scheduled run of the task \"Morning sentence\".\nIt is Friday, 2026-11-20, 07:30, in the time zone Europe/Lisbon (UTC+00:00), as planned.\nThe task last succeeded on Thursday, 2026-11-19, 07:30.",
                     *       "prompt": "What happened overnight, as of 2026-11-20?"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `true` on success, `false` on an error
                         * @enum {boolean}
                         */
                        success: true;
                        /** @description The system message; null without one */
                        system: string | null;
                        /** @description The prompt with its variables replaced */
                        prompt: string;
                    };
                };
            };
        };
    };
    listExecutions: {
        parameters: {
            query?: {
                /**
                 * @description The task, by id
                 * @example 42
                 */
                taskId?: number;
                /**
                 * @description The status
                 * @example completed
                 */
                status?: "pending" | "running" | "completed" | "failed";
                /** @description Only executions with this outcome */
                outcome?: "done" | "nothing_new" | "not_done";
                /**
                 * @description A day (2026-11-20) or an ISO 8601 date-time with Z or an offset
                 * @example 2026-11-20
                 */
                startDate?: string;
                /** @description A day (2026-11-20) or an ISO 8601 date-time with Z or an offset */
                endDate?: string;
                /** @description `true`: only runs that have ended and were not seen yet */
                unseen?: boolean;
                /** @description Only runs with these words in the result or in the prompt, as in a search engine: `"a phrase"`, `or`, and `-` before a word that must not be there */
                q?: string;
                /**
                 * @description The maximum number of entries on a page; more than 100 counts as 100
                 * @example 1
                 */
                limit?: number;
                /** @description The number of entries to skip */
                offset?: number;
                /** @description `pagination.nextCursor` of the previous page */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "executions": [
                     *         {
                     *           "id": 1207,
                     *           "taskId": 42,
                     *           "userId": 7,
                     *           "status": "completed",
                     *           "result": "Begin with the thing that you would rather put off.",
                     *           "output": null,
                     *           "changed": null,
                     *           "changes": null,
                     *           "citations": [
                     *             {
                     *               "url": "https://example.com/focus",
                     *               "title": "Why the hardest task comes first"
                     *             }
                     *           ],
                     *           "toolUses": 1,
                     *           "truncated": false,
                     *           "modelAttempts": [
                     *             {
                     *               "model": "openai/gpt-5-mini",
                     *               "errorCode": null,
                     *               "message": null,
                     *               "ms": 3459
                     *             }
                     *           ],
                     *           "sources": [],
                     *           "outcome": null,
                     *           "outcomeReason": null,
                     *           "error": null,
                     *           "errorCode": null,
                     *           "tokensUsed": 45,
                     *           "tokens": {
                     *             "input": 31,
                     *             "output": 14,
                     *             "total": 45,
                     *             "estimated": false
                     *           },
                     *           "costUsd": 0.00003575,
                     *           "model": "openai/gpt-5-mini",
                     *           "processingTimeMs": 3459,
                     *           "trigger": "schedule",
                     *           "plannedFor": "2026-11-20T07:30:00.000Z",
                     *           "attempt": 1,
                     *           "retryOfId": null,
                     *           "taskVersion": 1,
                     *           "createdAt": "2026-11-20T07:30:00.287Z",
                     *           "startedAt": "2026-11-20T07:30:00.412Z",
                     *           "completedAt": "2026-11-20T07:30:03.871Z",
                     *           "seenAt": null
                     *         }
                     *       ],
                     *       "pagination": {
                     *         "total": 3,
                     *         "limit": 1,
                     *         "offset": 0,
                     *         "hasMore": true,
                     *         "nextCursor": "MTIwNw"
                     *       }
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `true` on success, `false` on an error
                         * @enum {boolean}
                         */
                        success: true;
                        /** @description The executions */
                        executions: components["schemas"]["TaskExecution"][];
                        /** @description The position of this page in the list */
                        pagination: {
                            /** @description Null if the page was requested by `cursor` */
                            total: number | null;
                            /** @description The maximum number of entries on a page */
                            limit: number;
                            /** @description The number of entries to skip */
                            offset: number;
                            /** @description Whether there are entries after this page */
                            hasMore: boolean;
                            /** @description The `cursor` of the next page; null on the last one */
                            nextCursor: string | null;
                        };
                    };
                };
            };
        };
    };
    getExecution: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id, which never changes
                 * @example 1207
                 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "execution": {
                     *         "id": 1207,
                     *         "taskId": 42,
                     *         "userId": 7,
                     *         "status": "completed",
                     *         "result": "Begin with the thing that you would rather put off.",
                     *         "output": null,
                     *         "changed": null,
                     *         "changes": null,
                     *         "citations": [
                     *           {
                     *             "url": "https://example.com/focus",
                     *             "title": "Why the hardest task comes first"
                     *           }
                     *         ],
                     *         "toolUses": 1,
                     *         "truncated": false,
                     *         "modelAttempts": [
                     *           {
                     *             "model": "openai/gpt-5-mini",
                     *             "errorCode": null,
                     *             "message": null,
                     *             "ms": 3459
                     *           }
                     *         ],
                     *         "sources": [],
                     *         "outcome": null,
                     *         "outcomeReason": null,
                     *         "error": null,
                     *         "errorCode": null,
                     *         "tokensUsed": 45,
                     *         "tokens": {
                     *           "input": 31,
                     *           "output": 14,
                     *           "total": 45,
                     *           "estimated": false
                     *         },
                     *         "costUsd": 0.00003575,
                     *         "model": "openai/gpt-5-mini",
                     *         "processingTimeMs": 3459,
                     *         "trigger": "schedule",
                     *         "plannedFor": "2026-11-20T07:30:00.000Z",
                     *         "attempt": 1,
                     *         "retryOfId": null,
                     *         "taskVersion": 1,
                     *         "createdAt": "2026-11-20T07:30:00.287Z",
                     *         "startedAt": "2026-11-20T07:30:00.412Z",
                     *         "completedAt": "2026-11-20T07:30:03.871Z",
                     *         "seenAt": null,
                     *         "request": {
                     *           "system": "This is a scheduled run of the task \"Morning sentence\".\nIt is Friday, 2026-11-20, 07:30, in the time zone Europe/Lisbon (UTC+00:00), as planned.\nThe task last succeeded on Thursday, 2026-11-19, 07:30.",
                     *           "prompt": "Write one sentence that begins a working day well.",
                     *           "model": "openai/gpt-5-mini"
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `true` on success, `false` on an error
                         * @enum {boolean}
                         */
                        success: true;
                        /** @description The execution */
                        execution: {
                            /** @description The id, which never changes */
                            id: number;
                            /** @description The task, by id */
                            taskId: number;
                            /** @description The account that owns it, by id */
                            userId: number;
                            /**
                             * @description `pending` is queued, `running` waits for the model, `completed` and `failed` have ended
                             * @enum {string}
                             */
                            status: "pending" | "running" | "completed" | "failed";
                            /** @description The answer of the model; null until the execution is `completed` */
                            result: string | null;
                            /** @description The parsed result of a task with an output schema; null without one */
                            output: unknown;
                            /** @description Whether a watched value differs from the last success; null without a success before */
                            changed: boolean | null;
                            /** @description The watched values that differ; null whenever `changed` is */
                            changes: {
                                /** @description A path such as `releases[0].date` or `releases[version="1.2"].date`; empty for the whole output or text */
                                path: string;
                                /** @description The earlier value; missing if there was none */
                                from?: unknown;
                                /** @description The new value; missing if there is none */
                                to?: unknown;
                                /** @description Whether a value is too long and only a part of it is here; without `from` and `to`, whether further changes were left out */
                                cut?: boolean;
                            }[] | null;
                            /** @description The pages that the answer cites, in its order; empty without any */
                            citations: {
                                /** @description An http or https address */
                                url: string;
                                /** @description The title of the page; its host if the provider sent none */
                                title: string;
                            }[];
                            /** @description The sources of the task, in its order; empty before they are read, and without any */
                            sources: {
                                /** @description The name */
                                name: string;
                                /** @description The URL that events are sent to */
                                url?: string;
                                /** @description What was searched for, instead of `url` */
                                search?: string;
                                /**
                                 * @description Against the last completed run
                                 * @enum {string}
                                 */
                                status: "new" | "unchanged" | "failed";
                                /** @description Null if nothing answered */
                                httpStatus: number | null;
                                /**
                                 * Format: date-time
                                 * @description When it was asked for
                                 */
                                fetchedAt: string;
                                /**
                                 * Format: date-time
                                 * @description When the text that the run has of it was read; null without a text
                                 */
                                asOf: string | null;
                                /** @description Of what was read, unpacked */
                                bytes: number | null;
                                /** @description Why it failed */
                                message: string | null;
                            }[];
                            /** @description How often the model used its tools */
                            toolUses: number;
                            /** @description Whether a limit of tokens or size cut the answer off */
                            truncated: boolean;
                            /** @description The models that were asked, in order; the one that answered is the last, with `errorCode: null`. Empty before that */
                            modelAttempts: {
                                /** @description As the task names it */
                                model: string;
                                /**
                                 * @description Why it failed, for programs
                                 * @enum {string|null}
                                 */
                                errorCode: "RATE_LIMIT_EXCEEDED" | "TIMEOUT" | "PROVIDER_UNAVAILABLE" | "PROVIDER_ERROR" | "AUTHENTICATION_FAILED" | "UNKNOWN_MODEL" | "INVALID_REQUEST" | "CONTENT_FILTERED" | "QUOTA_EXCEEDED" | "INTERRUPTED" | "INVALID_OUTPUT" | "CANCELLED" | null;
                                /** @description Why the model did not answer; null for the one that answered */
                                message: string | null;
                                /** @description How long the call took */
                                ms: number;
                            }[];
                            /**
                             * @description Whether the answer does what the task asks for (`done`), says nothing new (`nothing_new`), or does not do it (`not_done`); null if nothing decides that
                             * @enum {string|null}
                             */
                            outcome: "done" | "nothing_new" | "not_done" | null;
                            /** @description Why, in one sentence */
                            outcomeReason: string | null;
                            /** @description Why it failed; null unless it failed */
                            error: string | null;
                            /**
                             * @description Why it failed, for programs
                             * @enum {string|null}
                             */
                            errorCode: "RATE_LIMIT_EXCEEDED" | "TIMEOUT" | "PROVIDER_UNAVAILABLE" | "PROVIDER_ERROR" | "AUTHENTICATION_FAILED" | "UNKNOWN_MODEL" | "INVALID_REQUEST" | "CONTENT_FILTERED" | "QUOTA_EXCEEDED" | "INTERRUPTED" | "INVALID_OUTPUT" | "CANCELLED" | null;
                            /** @description Tokens charged to the quota, input and output */
                            tokensUsed: number | null;
                            /** @description The tokens in detail */
                            tokens: {
                                /** @description Input tokens */
                                input: number;
                                /** @description Output tokens */
                                output: number;
                                /** @description Input and output tokens */
                                total: number;
                                /** @description Whether the counts are estimates because the provider sent none */
                                estimated: boolean;
                            } | null;
                            /** @description The cost in US dollars: as reported by the provider, else by a price list, else 0 */
                            costUsd: number | null;
                            /** @description The model that answered */
                            model: string | null;
                            /** @description From start to end, in milliseconds */
                            processingTimeMs: number | null;
                            /**
                             * @description Why it runs: by the `schedule`, on request (`manual`), by an `inbound` webhook, or as a `retry`
                             * @enum {string}
                             */
                            trigger: "schedule" | "manual" | "inbound" | "retry" | "backfill";
                            /**
                             * Format: date-time
                             * @description The planned instant; null for a run outside the schedule
                             */
                            plannedFor: string | null;
                            /** @description The number of the attempt, from 1 */
                            attempt: number;
                            /** @description The failed execution that this one retries, which may be deleted already; null for none */
                            retryOfId: number | null;
                            /** @description The version of the task that it used; null before the start, and for runs that are older than versions */
                            taskVersion: number | null;
                            /**
                             * Format: date-time
                             * @description When it was created
                             */
                            createdAt: string;
                            /**
                             * Format: date-time
                             * @description When it started; null before that
                             */
                            startedAt: string | null;
                            /**
                             * Format: date-time
                             * @description When it completed or failed; null before that
                             */
                            completedAt: string | null;
                            /**
                             * Format: date-time
                             * @description When its owner first saw how it ended; null until then
                             */
                            seenAt: string | null;
                            /** @description What was sent to the model; null before the start */
                            request: {
                                /** @description The system message; null without one */
                                system: string | null;
                                /** @description The prompt with its variables replaced */
                                prompt: string;
                                /** @description The model that was asked */
                                model: string;
                            } | null;
                        };
                    };
                };
            };
        };
    };
    getExecutionDetails: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id, which never changes
                 * @example 1207
                 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "execution": {
                     *         "id": 1207,
                     *         "taskId": 42,
                     *         "userId": 7,
                     *         "status": "completed",
                     *         "result": "Begin with the thing that you would rather put off.",
                     *         "output": null,
                     *         "changed": null,
                     *         "changes": null,
                     *         "citations": [
                     *           {
                     *             "url": "https://example.com/focus",
                     *             "title": "Why the hardest task comes first"
                     *           }
                     *         ],
                     *         "toolUses": 1,
                     *         "truncated": false,
                     *         "modelAttempts": [
                     *           {
                     *             "model": "openai/gpt-5-mini",
                     *             "errorCode": null,
                     *             "message": null,
                     *             "ms": 3459
                     *           }
                     *         ],
                     *         "sources": [],
                     *         "outcome": null,
                     *         "outcomeReason": null,
                     *         "error": null,
                     *         "errorCode": null,
                     *         "tokensUsed": 45,
                     *         "tokens": {
                     *           "input": 31,
                     *           "output": 14,
                     *           "total": 45,
                     *           "estimated": false
                     *         },
                     *         "costUsd": 0.00003575,
                     *         "model": "openai/gpt-5-mini",
                     *         "processingTimeMs": 3459,
                     *         "trigger": "schedule",
                     *         "plannedFor": "2026-11-20T07:30:00.000Z",
                     *         "attempt": 1,
                     *         "retryOfId": null,
                     *         "taskVersion": 1,
                     *         "createdAt": "2026-11-20T07:30:00.287Z",
                     *         "startedAt": "2026-11-20T07:30:00.412Z",
                     *         "completedAt": "2026-11-20T07:30:03.871Z",
                     *         "seenAt": null,
                     *         "request": {
                     *           "system": "This is a scheduled run of the task \"Morning sentence\".\nIt is Friday, 2026-11-20, 07:30, in the time zone Europe/Lisbon (UTC+00:00), as planned.\nThe task last succeeded on Thursday, 2026-11-19, 07:30.",
                     *           "prompt": "Write one sentence that begins a working day well.",
                     *           "model": "openai/gpt-5-mini"
                     *         },
                     *         "task": {
                     *           "id": 42,
                     *           "name": "Morning sentence",
                     *           "prompt": "Write one sentence that begins a working day well.",
                     *           "model": "openai/gpt-5-mini"
                     *         },
                     *         "logs": [
                     *           {
                     *             "timestamp": "2026-11-20T07:30:00.000Z",
                     *             "message": "Planned to run."
                     *           },
                     *           {
                     *             "timestamp": "2026-11-20T07:30:00.287Z",
                     *             "message": "Queued by the schedule."
                     *           },
                     *           {
                     *             "timestamp": "2026-11-20T07:30:00.412Z",
                     *             "message": "Started, 0.412 s after its planned instant."
                     *           },
                     *           {
                     *             "timestamp": "2026-11-20T07:30:00.412Z",
                     *             "message": "Asking openai/gpt-5-mini with 0 attachments."
                     *           },
                     *           {
                     *             "timestamp": "2026-11-20T07:30:03.871Z",
                     *             "message": "openai/gpt-5-mini took 31 prompt and 14 completion tokens."
                     *           },
                     *           {
                     *             "timestamp": "2026-11-20T07:30:03.871Z",
                     *             "message": "Completed after 3459 ms."
                     *           }
                     *         ],
                     *         "metadata": {
                     *           "model": "openai/gpt-5-mini",
                     *           "tokens": {
                     *             "prompt": 31,
                     *             "completion": 14,
                     *             "total": 45
                     *           },
                     *           "cost": 0.00003575
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `true` on success, `false` on an error
                         * @enum {boolean}
                         */
                        success: true;
                        /** @description The execution */
                        execution: {
                            /** @description The id, which never changes */
                            id: number;
                            /** @description The task, by id */
                            taskId: number;
                            /** @description The account that owns it, by id */
                            userId: number;
                            /**
                             * @description `pending` is queued, `running` waits for the model, `completed` and `failed` have ended
                             * @enum {string}
                             */
                            status: "pending" | "running" | "completed" | "failed";
                            /** @description The answer of the model; null until the execution is `completed` */
                            result: string | null;
                            /** @description The parsed result of a task with an output schema; null without one */
                            output: unknown;
                            /** @description Whether a watched value differs from the last success; null without a success before */
                            changed: boolean | null;
                            /** @description The watched values that differ; null whenever `changed` is */
                            changes: {
                                /** @description A path such as `releases[0].date` or `releases[version="1.2"].date`; empty for the whole output or text */
                                path: string;
                                /** @description The earlier value; missing if there was none */
                                from?: unknown;
                                /** @description The new value; missing if there is none */
                                to?: unknown;
                                /** @description Whether a value is too long and only a part of it is here; without `from` and `to`, whether further changes were left out */
                                cut?: boolean;
                            }[] | null;
                            /** @description The pages that the answer cites, in its order; empty without any */
                            citations: {
                                /** @description An http or https address */
                                url: string;
                                /** @description The title of the page; its host if the provider sent none */
                                title: string;
                            }[];
                            /** @description The sources of the task, in its order; empty before they are read, and without any */
                            sources: {
                                /** @description The name */
                                name: string;
                                /** @description The URL that events are sent to */
                                url?: string;
                                /** @description What was searched for, instead of `url` */
                                search?: string;
                                /**
                                 * @description Against the last completed run
                                 * @enum {string}
                                 */
                                status: "new" | "unchanged" | "failed";
                                /** @description Null if nothing answered */
                                httpStatus: number | null;
                                /**
                                 * Format: date-time
                                 * @description When it was asked for
                                 */
                                fetchedAt: string;
                                /**
                                 * Format: date-time
                                 * @description When the text that the run has of it was read; null without a text
                                 */
                                asOf: string | null;
                                /** @description Of what was read, unpacked */
                                bytes: number | null;
                                /** @description Why it failed */
                                message: string | null;
                            }[];
                            /** @description How often the model used its tools */
                            toolUses: number;
                            /** @description Whether a limit of tokens or size cut the answer off */
                            truncated: boolean;
                            /** @description The models that were asked, in order; the one that answered is the last, with `errorCode: null`. Empty before that */
                            modelAttempts: {
                                /** @description As the task names it */
                                model: string;
                                /**
                                 * @description Why it failed, for programs
                                 * @enum {string|null}
                                 */
                                errorCode: "RATE_LIMIT_EXCEEDED" | "TIMEOUT" | "PROVIDER_UNAVAILABLE" | "PROVIDER_ERROR" | "AUTHENTICATION_FAILED" | "UNKNOWN_MODEL" | "INVALID_REQUEST" | "CONTENT_FILTERED" | "QUOTA_EXCEEDED" | "INTERRUPTED" | "INVALID_OUTPUT" | "CANCELLED" | null;
                                /** @description Why the model did not answer; null for the one that answered */
                                message: string | null;
                                /** @description How long the call took */
                                ms: number;
                            }[];
                            /**
                             * @description Whether the answer does what the task asks for (`done`), says nothing new (`nothing_new`), or does not do it (`not_done`); null if nothing decides that
                             * @enum {string|null}
                             */
                            outcome: "done" | "nothing_new" | "not_done" | null;
                            /** @description Why, in one sentence */
                            outcomeReason: string | null;
                            /** @description Why it failed; null unless it failed */
                            error: string | null;
                            /**
                             * @description Why it failed, for programs
                             * @enum {string|null}
                             */
                            errorCode: "RATE_LIMIT_EXCEEDED" | "TIMEOUT" | "PROVIDER_UNAVAILABLE" | "PROVIDER_ERROR" | "AUTHENTICATION_FAILED" | "UNKNOWN_MODEL" | "INVALID_REQUEST" | "CONTENT_FILTERED" | "QUOTA_EXCEEDED" | "INTERRUPTED" | "INVALID_OUTPUT" | "CANCELLED" | null;
                            /** @description Tokens charged to the quota, input and output */
                            tokensUsed: number | null;
                            /** @description The tokens in detail */
                            tokens: {
                                /** @description Input tokens */
                                input: number;
                                /** @description Output tokens */
                                output: number;
                                /** @description Input and output tokens */
                                total: number;
                                /** @description Whether the counts are estimates because the provider sent none */
                                estimated: boolean;
                            } | null;
                            /** @description The cost in US dollars: as reported by the provider, else by a price list, else 0 */
                            costUsd: number | null;
                            /** @description The model that answered */
                            model: string | null;
                            /** @description From start to end, in milliseconds */
                            processingTimeMs: number | null;
                            /**
                             * @description Why it runs: by the `schedule`, on request (`manual`), by an `inbound` webhook, or as a `retry`
                             * @enum {string}
                             */
                            trigger: "schedule" | "manual" | "inbound" | "retry" | "backfill";
                            /**
                             * Format: date-time
                             * @description The planned instant; null for a run outside the schedule
                             */
                            plannedFor: string | null;
                            /** @description The number of the attempt, from 1 */
                            attempt: number;
                            /** @description The failed execution that this one retries, which may be deleted already; null for none */
                            retryOfId: number | null;
                            /** @description The version of the task that it used; null before the start, and for runs that are older than versions */
                            taskVersion: number | null;
                            /**
                             * Format: date-time
                             * @description When it was created
                             */
                            createdAt: string;
                            /**
                             * Format: date-time
                             * @description When it started; null before that
                             */
                            startedAt: string | null;
                            /**
                             * Format: date-time
                             * @description When it completed or failed; null before that
                             */
                            completedAt: string | null;
                            /**
                             * Format: date-time
                             * @description When its owner first saw how it ended; null until then
                             */
                            seenAt: string | null;
                            /** @description What was sent to the model; null before the start */
                            request: {
                                /** @description The system message; null without one */
                                system: string | null;
                                /** @description The prompt with its variables replaced */
                                prompt: string;
                                /** @description The model that was asked */
                                model: string;
                            } | null;
                            /** @description The task */
                            task: {
                                /** @description The id, which never changes */
                                id: number;
                                /** @description The name */
                                name: string;
                                /** @description The prompt that is sent to the model */
                                prompt: string;
                                /** @description The model of the task */
                                model: string;
                            };
                            /** @description The steps of the run, in order of time */
                            logs: {
                                /**
                                 * Format: date-time
                                 * @description When it happened
                                 */
                                timestamp: string;
                                /** @description A sentence for people */
                                message: string;
                            }[];
                            /** @description The model, tokens and cost of the run */
                            metadata: {
                                /** @description The model that answered; null before that */
                                model: string | null;
                                /** @description Null until the run has ended, and if the model was not called */
                                tokens: {
                                    /** @description Input tokens */
                                    prompt: number;
                                    /** @description Output tokens */
                                    completion: number;
                                    /** @description Input and output tokens */
                                    total: number;
                                } | null;
                                /** @description USD; null whenever `tokens` is */
                                cost: number | null;
                            };
                        };
                    };
                };
            };
        };
    };
    diffExecution: {
        parameters: {
            query?: {
                /**
                 * @description Another execution of the task. Default: the last success before this one
                 * @example 1187
                 */
                against?: number;
            };
            header?: never;
            path: {
                /**
                 * @description The id, which never changes
                 * @example 1207
                 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "against": 1187,
                     *       "changes": [
                     *         {
                     *           "path": "price",
                     *           "from": 12.5,
                     *           "to": 11.9
                     *         }
                     *       ],
                     *       "text": [
                     *         {
                     *           "op": "equal",
                     *           "text": "{\"price\": "
                     *         },
                     *         {
                     *           "op": "delete",
                     *           "text": "12.5}"
                     *         },
                     *         {
                     *           "op": "insert",
                     *           "text": "11.9}"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `true` on success, `false` on an error
                         * @enum {boolean}
                         */
                        success: true;
                        /** @description The execution that it was compared with */
                        against: number;
                        /** @description The watched values that differ */
                        changes: {
                            /** @description A path such as `releases[0].date` or `releases[version="1.2"].date`; empty for the whole output or text */
                            path: string;
                            /** @description The earlier value; missing if there was none */
                            from?: unknown;
                            /** @description The new value; missing if there is none */
                            to?: unknown;
                            /** @description Whether a value is too long and only a part of it is here; without `from` and `to`, whether further changes were left out */
                            cut?: boolean;
                        }[];
                        /** @description The differences between the results */
                        text: {
                            /**
                             * @description Whether the part is in both results, only in this one, or only in the other
                             * @enum {string}
                             */
                            op: "equal" | "insert" | "delete";
                            /** @description A part of a result */
                            text: string;
                        }[];
                    };
                };
            };
        };
    };
    seeExecution: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id, which never changes
                 * @example 1207
                 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "seen": 1
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `true` on success, `false` on an error
                         * @enum {boolean}
                         */
                        success: true;
                        /** @description How many executions were not seen before */
                        seen: number;
                    };
                };
            };
        };
    };
    seeExecutions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "before": "2026-11-21T08:00:00.000Z"
                 *     }
                 */
                "application/json": {
                    /**
                     * Format: date-time
                     * @description Only those that ended before this instant
                     */
                    before?: string;
                } | null;
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "seen": 12
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `true` on success, `false` on an error
                         * @enum {boolean}
                         */
                        success: true;
                        /** @description How many executions were not seen before */
                        seen: number;
                    };
                };
            };
        };
    };
    retryExecution: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id, which never changes
                 * @example 1208
                 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The retry that was already scheduled or running */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "executionId": 1209,
                     *       "status": "pending",
                     *       "startedAt": "2026-11-20T09:15:27.204Z"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `true` on success, `false` on an error
                         * @enum {boolean}
                         */
                        success: true;
                        /** @description The execution, by id */
                        executionId: number;
                        /**
                         * @description The status
                         * @enum {string}
                         */
                        status: "pending" | "running";
                        /**
                         * Format: date-time
                         * @description When it started; null before that
                         */
                        startedAt: string;
                    };
                };
            };
            /** @description A new retry */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "executionId": 1209,
                     *       "status": "pending",
                     *       "startedAt": "2026-11-20T09:15:27.204Z"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `true` on success, `false` on an error
                         * @enum {boolean}
                         */
                        success: true;
                        /** @description The execution, by id */
                        executionId: number;
                        /**
                         * @description The status
                         * @enum {string}
                         */
                        status: "pending" | "running";
                        /**
                         * Format: date-time
                         * @description When it started; null before that
                         */
                        startedAt: string;
                    };
                };
            };
        };
    };
    cancelExecution: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id, which never changes
                 * @example 1207
                 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "execution": {
                     *         "id": 1207,
                     *         "taskId": 42,
                     *         "userId": 7,
                     *         "status": "failed",
                     *         "result": null,
                     *         "output": null,
                     *         "changed": null,
                     *         "changes": null,
                     *         "citations": [],
                     *         "toolUses": 0,
                     *         "truncated": false,
                     *         "modelAttempts": [],
                     *         "sources": [],
                     *         "outcome": null,
                     *         "outcomeReason": null,
                     *         "error": "The run was cancelled.",
                     *         "errorCode": "CANCELLED",
                     *         "tokensUsed": 30,
                     *         "tokens": {
                     *           "input": 30,
                     *           "output": 0,
                     *           "total": 30,
                     *           "estimated": true
                     *         },
                     *         "costUsd": 0,
                     *         "model": "openai/gpt-5-mini",
                     *         "processingTimeMs": 3459,
                     *         "trigger": "schedule",
                     *         "plannedFor": "2026-11-20T07:30:00.000Z",
                     *         "attempt": 1,
                     *         "retryOfId": null,
                     *         "taskVersion": 1,
                     *         "createdAt": "2026-11-20T07:30:00.287Z",
                     *         "startedAt": "2026-11-20T07:30:00.412Z",
                     *         "completedAt": "2026-11-20T07:30:03.871Z",
                     *         "seenAt": null
                     *       }
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `true` on success, `false` on an error
                         * @enum {boolean}
                         */
                        success: true;
                        /** @description The execution */
                        execution: components["schemas"]["TaskExecution"];
                    };
                };
            };
        };
    };
    listAlerts: {
        parameters: {
            query?: {
                /**
                 * @description Only alerts of this task
                 * @example 42
                 */
                taskId?: number;
                /**
                 * @description Only alerts of this kind
                 * @example task.overdue
                 */
                kind?: "task.overdue" | "task.failing" | "task.recovered" | "task.expensive" | "task.slow" | "task.degraded";
                /**
                 * @description The maximum number of entries on a page; more than 100 counts as 100
                 * @example 20
                 */
                limit?: number;
                /**
                 * @description `pagination.nextCursor` of the previous page
                 * @example MTIwNw
                 */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "alerts": [
                     *         {
                     *           "id": 12,
                     *           "kind": "task.overdue",
                     *           "taskId": 42,
                     *           "taskName": "Morning sentence",
                     *           "at": "2026-11-21T07:30:00.000Z",
                     *           "executionId": null,
                     *           "title": "Task \"Morning sentence\" is overdue",
                     *           "message": "The run planned for 21 Nov 2026, 07:30 (Europe/Lisbon) has not ended 15 minutes later.",
                     *           "createdAt": "2026-11-21T07:45:00.318Z",
                     *           "acknowledgedAt": null,
                     *           "undelivered": false,
                     *           "deliveries": [
                     *             {
                     *               "kind": "mail",
                     *               "to": "alice@example.com",
                     *               "status": "delivered",
                     *               "attempts": 1,
                     *               "lastError": null,
                     *               "at": "2026-11-21T07:45:01.902Z"
                     *             }
                     *           ]
                     *         }
                     *       ],
                     *       "pagination": {
                     *         "limit": 20,
                     *         "nextCursor": null
                     *       }
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `true` on success, `false` on an error
                         * @enum {boolean}
                         */
                        success: true;
                        /** @description The alerts */
                        alerts: components["schemas"]["Alert"][];
                        /** @description The position of this page in the list */
                        pagination: {
                            /** @description The maximum number of entries on a page */
                            limit: number;
                            /** @description The `cursor` of the next page; null on the last one */
                            nextCursor: string | null;
                        };
                    };
                };
            };
        };
    };
    acknowledgeAlert: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id, which never changes
                 * @example 12
                 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "alert": {
                     *         "id": 12,
                     *         "kind": "task.overdue",
                     *         "taskId": 42,
                     *         "taskName": "Morning sentence",
                     *         "at": "2026-11-21T07:30:00.000Z",
                     *         "executionId": null,
                     *         "title": "Task \"Morning sentence\" is overdue",
                     *         "message": "The run planned for 21 Nov 2026, 07:30 (Europe/Lisbon) has not ended 15 minutes later.",
                     *         "createdAt": "2026-11-21T07:45:00.318Z",
                     *         "acknowledgedAt": "2026-11-21T08:02:11.940Z",
                     *         "undelivered": false,
                     *         "deliveries": [
                     *           {
                     *             "kind": "mail",
                     *             "to": "alice@example.com",
                     *             "status": "delivered",
                     *             "attempts": 1,
                     *             "lastError": null,
                     *             "at": "2026-11-21T07:45:01.902Z"
                     *           }
                     *         ]
                     *       }
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `true` on success, `false` on an error
                         * @enum {boolean}
                         */
                        success: true;
                        /** @description The alert */
                        alert: components["schemas"]["Alert"];
                    };
                };
            };
        };
    };
    createTaskFeed: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id, which never changes
                 * @example 42
                 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /** @example {} */
                "application/json": Record<string, never> | null;
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "url": "https://carillon.example.com/feeds/Zm9yIHRoZSBleGFtcGxlIG9ubHksIG5vIHNlY3JldA0.atom"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `true` on success, `false` on an error
                         * @enum {boolean}
                         */
                        success: true;
                        /** @description The URL of the feed. Anyone with it can read the results: it is shown once */
                        url: string;
                    };
                };
            };
        };
    };
    deleteTaskFeed: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id, which never changes
                 * @example 42
                 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "message": "The address of the feed has ended."
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `true` on success, `false` on an error
                         * @enum {boolean}
                         */
                        success: true;
                        /** @description A sentence for people */
                        message: string;
                    };
                };
            };
        };
    };
    createAccountFeed: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /** @example {} */
                "application/json": Record<string, never> | null;
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "url": "https://carillon.example.com/feeds/Zm9yIHRoZSBleGFtcGxlIG9ubHksIG5vIHNlY3JldA0.atom"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `true` on success, `false` on an error
                         * @enum {boolean}
                         */
                        success: true;
                        /** @description The URL of the feed. Anyone with it can read the results: it is shown once */
                        url: string;
                    };
                };
            };
        };
    };
    deleteAccountFeed: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "message": "The address of the feed has ended."
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `true` on success, `false` on an error
                         * @enum {boolean}
                         */
                        success: true;
                        /** @description A sentence for people */
                        message: string;
                    };
                };
            };
        };
    };
    listEvents: {
        parameters: {
            query?: {
                /**
                 * @description The id of the event after which the list or the stream begins
                 * @example 311
                 */
                after?: string;
                /**
                 * @description Only these kinds, separated by commas: `task.created`, `task.updated`, `task.deleted`, `task.started`, `task.completed`, `task.failed`, `execution.started`, `execution.completed`, `execution.failed`, `task.changed`, `task.overdue`, `task.failing`, `task.recovered`, `task.expensive`, `task.slow`, `task.degraded`, `usage.alert`, `scheduler.silent`, `test`
                 * @example task.completed,task.failed
                 */
                kinds?: string;
                /** @description Only events of this task */
                taskId?: number;
                /**
                 * @description The maximum number of entries on a page; more than 100 counts as 100
                 * @example 1
                 */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "events": [
                     *         {
                     *           "id": "312",
                     *           "event": "task.completed",
                     *           "timestamp": "2026-11-20T07:30:03.871Z",
                     *           "data": {
                     *             "task": {
                     *               "id": 42,
                     *               "name": "Morning sentence",
                     *               "status": "active"
                     *             },
                     *             "execution": {
                     *               "id": 1207,
                     *               "status": "completed",
                     *               "result": "Begin with the thing that you would rather put off.",
                     *               "tokensUsed": {
                     *                 "input": 31,
                     *                 "output": 14,
                     *                 "total": 45
                     *               },
                     *               "processingTimeMs": 3459,
                     *               "startedAt": "2026-11-20T07:30:00.412Z",
                     *               "completedAt": "2026-11-20T07:30:03.871Z",
                     *               "citations": [
                     *                 {
                     *                   "url": "https://example.com/focus",
                     *                   "title": "Why the hardest task comes first"
                     *                 }
                     *               ],
                     *               "toolUses": 1
                     *             }
                     *           }
                     *         }
                     *       ],
                     *       "pagination": {
                     *         "limit": 1,
                     *         "hasMore": false,
                     *         "nextAfter": "312"
                     *       }
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `true` on success, `false` on an error
                         * @enum {boolean}
                         */
                        success: true;
                        /** @description The kinds of event that the webhook receives */
                        events: components["schemas"]["Event"][];
                        /** @description The position of this page in the list */
                        pagination: {
                            /** @description The maximum number of entries on a page */
                            limit: number;
                            /** @description Whether there are more after `nextAfter`. With `kinds` or `taskId`, a page of a long log may have fewer events than `limit`, or none */
                            hasMore: boolean;
                            /** @description The `after` of the next page, also for events that do not exist yet */
                            nextAfter: string | null;
                        };
                    };
                    /**
                     * @example retry: 2000
                     *     id: 311
                     *
                     *     id: 312
                     *     event: task.completed
                     *     data: {"id":"312","event":"task.completed","timestamp":"2026-11-20T07:30:03.871Z","data":{"task":{"id":42,"name":"Morning sentence","status":"active"},"execution":{"id":1207,"status":"completed","result":"Begin with the thing that you would rather put off.","tokensUsed":{"input":31,"output":14,"total":45},"processingTimeMs":3459,"startedAt":"2026-11-20T07:30:00.412Z","completedAt":"2026-11-20T07:30:03.871Z","citations":[{"url":"https://example.com/focus","title":"Why the hardest task comes first"}],"toolUses":1}}}
                     *
                     *     : keep-alive
                     */
                    "text/event-stream": string;
                };
            };
        };
    };
    processMessage: {
        parameters: {
            query?: {
                /**
                 * @description Whether the response may have a `proposal`. Default: false
                 * @example true
                 */
                propose?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "message": "What should I look at first on a Monday? Ask me every Monday at nine.",
                 *       "context": {
                 *         "timezone": "Europe/Lisbon",
                 *         "preferences": {
                 *           "tone": "brief"
                 *         }
                 *       }
                 *     }
                 */
                "application/json": {
                    /** @description The message to answer */
                    message: string;
                    /** @description Context about the user */
                    context?: {
                        /**
                         * Format: time-zone
                         * @description IANA time zone name. Default: the user's own, else UTC
                         */
                        timezone?: string;
                        /** @description Free-form preferences for the answer; at most 8192 bytes of JSON */
                        preferences?: Record<string, never>;
                    };
                };
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "response": {
                     *         "content": "The one thing that others wait for.",
                     *         "tokensUsed": {
                     *           "input": 212,
                     *           "output": 48,
                     *           "total": 260
                     *         },
                     *         "model": "openai/gpt-5-mini",
                     *         "processingTimeMs": 1874
                     *       },
                     *       "suggestions": [
                     *         "Plan my Monday",
                     *         "Ask me at ten instead"
                     *       ],
                     *       "proposal": {
                     *         "id": "d94b7f12-5e08-4c63-8b2f-71a6e0c9d345",
                     *         "task": {
                     *           "name": "Monday question",
                     *           "prompt": "Ask me in one sentence what I should look at first today.",
                     *           "scheduledFor": "2026-11-23T09:00:00.000Z",
                     *           "recurrence": "weekly",
                     *           "recurrencePattern": "0 9 * * 1",
                     *           "timezone": "Europe/Lisbon"
                     *         },
                     *         "occurrences": [
                     *           {
                     *             "at": "2026-11-23T09:00:00.000Z",
                     *             "local": "2026-11-23T09:00:00+00:00[Europe/Lisbon]"
                     *           },
                     *           {
                     *             "at": "2026-11-30T09:00:00.000Z",
                     *             "local": "2026-11-30T09:00:00+00:00[Europe/Lisbon]"
                     *           }
                     *         ],
                     *         "expiresAt": "2026-11-21T09:15:27.204Z"
                     *       }
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `true` on success, `false` on an error
                         * @enum {boolean}
                         */
                        success: true;
                        /** @description The answer */
                        response: {
                            /** @description The text of the answer */
                            content: string;
                            /** @description Tokens charged to the quota, input and output */
                            tokensUsed: {
                                /** @description Input tokens */
                                input: number;
                                /** @description Output tokens */
                                output: number;
                                /** @description Input and output tokens */
                                total: number;
                            };
                            /** @description The model that answered */
                            model: string;
                            /** @description From start to end, in milliseconds */
                            processingTimeMs: number;
                        };
                        /** @description Messages that the user may want to send next; empty if the model returned no usable ones */
                        suggestions: string[];
                        proposal?: components["schemas"]["TaskProposal"];
                    };
                    /**
                     * @example event: content
                     *     data: {"text":"The one thing that"}
                     *
                     *     event: content
                     *     data: {"text":" others wait for."}
                     *
                     *     event: done
                     *     data: {"success":true,"response":{"content":"The one thing that others wait for.","tokensUsed":{"input":212,"output":48,"total":260},"model":"openai/gpt-5-mini","processingTimeMs":1874},"suggestions":["Plan my Monday","Ask me at ten instead"],"proposal":{"id":"d94b7f12-5e08-4c63-8b2f-71a6e0c9d345","task":{"name":"Monday question","prompt":"Ask me in one sentence what I should look at first today.","scheduledFor":"2026-11-23T09:00:00.000Z","recurrence":"weekly","recurrencePattern":"0 9 * * 1","timezone":"Europe/Lisbon"},"occurrences":[{"at":"2026-11-23T09:00:00.000Z","local":"2026-11-23T09:00:00+00:00[Europe/Lisbon]"},{"at":"2026-11-30T09:00:00.000Z","local":"2026-11-30T09:00:00+00:00[Europe/Lisbon]"}],"expiresAt":"2026-11-21T09:15:27.204Z"}}
                     */
                    "text/event-stream": string;
                };
            };
        };
    };
    askExecution: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id, which never changes
                 * @example 1207
                 */
                id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "message": "Why the hardest thing first?"
                 *     }
                 */
                "application/json": {
                    /** @description The message to answer */
                    message: string;
                };
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "response": {
                     *         "content": "Because the rest of the day is easier after it.",
                     *         "tokensUsed": {
                     *           "input": 148,
                     *           "output": 22,
                     *           "total": 170
                     *         },
                     *         "model": "openai/gpt-5-mini",
                     *         "processingTimeMs": 1120
                     *       },
                     *       "suggestions": [
                     *         "What if I cannot begin?"
                     *       ]
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `true` on success, `false` on an error
                         * @enum {boolean}
                         */
                        success: true;
                        /** @description The answer */
                        response: {
                            /** @description The text of the answer */
                            content: string;
                            /** @description Tokens charged to the quota, input and output */
                            tokensUsed: {
                                /** @description Input tokens */
                                input: number;
                                /** @description Output tokens */
                                output: number;
                                /** @description Input and output tokens */
                                total: number;
                            };
                            /** @description The model that answered */
                            model: string;
                            /** @description From start to end, in milliseconds */
                            processingTimeMs: number;
                        };
                        /** @description Messages that the user may want to send next; empty if the model returned no usable ones */
                        suggestions: string[];
                    };
                    /**
                     * @example event: content
                     *     data: {"text":"Because the rest of the"}
                     *
                     *     event: content
                     *     data: {"text":" day is easier after it."}
                     *
                     *     event: done
                     *     data: {"success":true,"response":{"content":"Because the rest of the day is easier after it.","tokensUsed":{"input":148,"output":22,"total":170},"model":"openai/gpt-5-mini","processingTimeMs":1120},"suggestions":["What if I cannot begin?"]}
                     */
                    "text/event-stream": string;
                };
            };
        };
    };
    listQuestions: {
        parameters: {
            query?: {
                /**
                 * @description The maximum number of entries on a page; more than 100 counts as 100
                 * @example 20
                 */
                limit?: number;
                /** @description The number of entries to skip */
                offset?: number;
                /** @description `pagination.nextCursor` of the previous page */
                cursor?: string;
            };
            header?: never;
            path: {
                /**
                 * @description The id, which never changes
                 * @example 1207
                 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "questions": [
                     *         {
                     *           "id": 5,
                     *           "message": "Why the hardest thing first?",
                     *           "content": "Because the rest of the day is easier after it.",
                     *           "model": "openai/gpt-5-mini",
                     *           "createdAt": "2026-11-20T09:15:27.204Z"
                     *         }
                     *       ],
                     *       "pagination": {
                     *         "total": 1,
                     *         "limit": 20,
                     *         "offset": 0,
                     *         "hasMore": false,
                     *         "nextCursor": null
                     *       }
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `true` on success, `false` on an error
                         * @enum {boolean}
                         */
                        success: true;
                        /** @description The questions */
                        questions: {
                            /** @description The id, which never changes */
                            id: number;
                            /** @description What was asked */
                            message: string;
                            /** @description The answer */
                            content: string;
                            /** @description The model that answered */
                            model: string;
                            /**
                             * Format: date-time
                             * @description When it was created
                             */
                            createdAt: string;
                        }[];
                        /** @description The position of this page in the list */
                        pagination: {
                            /** @description Null if the page was requested by `cursor` */
                            total: number | null;
                            /** @description The maximum number of entries on a page */
                            limit: number;
                            /** @description The number of entries to skip */
                            offset: number;
                            /** @description Whether there are entries after this page */
                            hasMore: boolean;
                            /** @description The `cursor` of the next page; null on the last one */
                            nextCursor: string | null;
                        };
                    };
                };
            };
        };
    };
    confirmTask: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "proposalId": "d94b7f12-5e08-4c63-8b2f-71a6e0c9d345",
                 *       "changes": {
                 *         "name": "What to look at first"
                 *       }
                 *     }
                 */
                "application/json": {
                    /**
                     * Format: uuid
                     * @description The `id` of a proposal of the caller
                     */
                    proposalId: string;
                    /** @description Fields of the task that replace the proposed ones; null clears a nullable field */
                    changes?: {
                        /** @description The name of the task in files, unique for its owner. Default: `task-<id>` */
                        externalId?: string;
                        /** @description The name. Spaces at its ends are removed */
                        name?: string;
                        /** @description The owner's description */
                        description?: string | null;
                        /** @description The prompt that is sent to the model */
                        prompt?: string;
                        /**
                         * Format: date-time
                         * @description ISO 8601 with Z or an offset
                         */
                        scheduledFor?: string;
                        /**
                         * @description How often the task runs; with a `recurrencePattern`, the closest recurrence
                         * @enum {string}
                         */
                        recurrence?: "once" | "daily" | "weekly" | "monthly";
                        /** @description Five-field cron expression in the task's time zone; if present, it decides the next runs. A day matches the day of month or the weekday, or both where one of the two fields begins with `*`. Names, `L`, `W` and `#` are supported */
                        recurrencePattern?: string | null;
                        /** @description The number of days, weeks or months of `recurrence` between two runs, from the first run on; 1 with a `recurrencePattern` and with `once`. Default: 1 */
                        interval?: number;
                        /**
                         * Format: time-zone
                         * @description IANA time zone name
                         */
                        timezone?: string;
                        /** @description A model of the default provider, or `<provider>/<model>` of another one */
                        aiModel?: string;
                        /** @description Default: 1024 */
                        maxTokens?: number;
                        /** @description In hundredths. Default: 70, which stands for 0.70 */
                        temperature?: number;
                        /** @description URLs or ids of the caller's uploads, at most 20 MiB together */
                        attachments?: string[];
                        /**
                         * Format: http-url
                         * @description Receives `execution.completed` and `execution.failed` of this task through its webhook; null for none
                         */
                        webhookUrl?: string | null;
                        /**
                         * Format: email
                         * @description Receives a mail when a run ends and no retry follows; null for none
                         */
                        notificationEmail?: string | null;
                        /** @description Ids of channels of the caller, which get the results and the alerts of this task. Duplicates are ignored */
                        channels?: string[];
                        /** @description The models that are asked in this order when `aiModel` cannot answer, within the same run. Default: none */
                        fallbackModels?: string[];
                        /** @description What the model is given in addition to the prompt */
                        context?: {
                            /** @description Default: true */
                            clock?: boolean;
                            /** @description Default: false */
                            previousResult?: boolean;
                        };
                        /** @description A JSON Schema (2020-12) of an object that every result must match: at most 16 KiB and 10 levels deep, with local references only */
                        outputSchema?: {
                            [key: string]: unknown;
                        } | null;
                        /** @description Tasks of the caller whose last success the prompt reads: `{{task.<name>}}` stands for its output, or for its text without an output schema. Default: none */
                        inputs?: {
                            /** @description The task that is read. It may read this one in turn: no run waits for another */
                            taskId: number;
                            /** @description Its name in the prompt, unique among the inputs: a small letter, then up to 31 small letters, digits or `_` */
                            name: string;
                        }[];
                        /** @description What the model may use during a run: the provider's own search (`web_search`) and its reader of web pages (`web_fetch`). The provider of the model must have them. Default: none */
                        tools?: ("web_search" | "web_fetch")[];
                        /** @description How often the model may use its tools in a run. Default: 5 */
                        maxToolUses?: number;
                        /** @description Whether the outcome is `not_done` if the model leaves one of the `tools` unused. Default: false */
                        requireTools?: boolean;
                        /** @description What Carillon reads before each run, so that the model has fresh facts without tools: pages, feeds, JSON, texts and searches of the web. Sources that the prompt does not name follow it. Default: none */
                        sources?: {
                            /** @description Unique in the task. `{{source.<name>}}` in the prompt is the text of the source */
                            name: string;
                            /**
                             * Format: http-url
                             * @description The address of a page, a feed, JSON or a text. Either this or `search`
                             */
                            url?: string;
                            /** @description The part of `url` to read: a JSON Pointer such as `/items/0/price` for JSON, otherwise a CSS selector such as `#price` for HTML. Without it: the readable text of HTML, the new entries of a feed, JSON and text as they are */
                            select?: string;
                            /** @description The name of a secret of the account, which is sent to the host of `url` as a header */
                            secret?: string;
                            /** @description Words to search the web for with the operator's search engine: the source is the first ten results */
                            search?: string;
                        }[];
                        /**
                         * @description `changed`: a planned run is left out, without a call to the model, if all sources are as at the last completed run. Runs on demand and retries always run. Needs a source. Default: `always`
                         * @enum {string}
                         */
                        runIf?: "always" | "changed";
                        /**
                         * @description When the task's own webhook and mail get a result: `always`, only if it changed (`change`), only failures (`failure`), or only news (`news`): a second, short call to the model decides whether the answer says something new. Failures are always delivered. Default: `always`
                         * @enum {string}
                         */
                        notify?: "always" | "change" | "failure" | "news";
                        /** @description Paths into the output to compare with the last success, such as `price` or `releases[].date`; without any, the whole output */
                        watch?: string[];
                        /**
                         * @description What makes up for runs that were missed while the service was down: one run (`latest`), nothing (`none`), or the latest 10 (`all`). Default: `latest`
                         * @enum {string}
                         */
                        missed?: "latest" | "none" | "all";
                        /**
                         * @description What happens to a planned run while a run of the task is pending or running: it is skipped, one is queued, or it replaces the others, which are cancelled. Default: `skip`
                         * @enum {string}
                         */
                        overlap?: "skip" | "queue" | "cancel";
                        /**
                         * Format: date-time
                         * @description No run is planned at this instant or later, and the task is completed after its last run before; null for never
                         */
                        endsAt?: string | null;
                        /** @description The maximum number of planned runs: the task is completed once the last of them has ended; null for no limit. Runs on demand, retries and runs that were skipped or missed do not count */
                        maxRuns?: number | null;
                        /**
                         * Format: date-time
                         * @description The first run is the first one of the schedule at this instant or later; null for no pause
                         */
                        pausedUntil?: string | null;
                        /** @description How long the model may take to answer, in milliseconds: at most the `AI_TIMEOUT_MS` of the service; null for that. Reading attachments does not count */
                        timeoutMs?: number | null;
                        /** @description What the runs of a UTC month may cost in USD; null for no limit. A run starts only if the most that it can cost is within the rest */
                        monthlyBudgetUsd?: number | null;
                        /** @description How often a failed run is retried. Default: 3 */
                        maxRetries?: number;
                        /** @description When to send an alert; a rule that is left out is off. Null: 15 minutes overdue, 3 failures in a row and 3 answers of a fallback model in a row, if the task has a webhook or a mail address */
                        alerts?: {
                            /** @description Minutes after which a planned run is overdue */
                            overdueMinutes?: number;
                            /** @description Failed runs in a row after which the task is failing */
                            failuresInRow?: number;
                            /** @description Cost of a run in USD */
                            costAboveUsd?: number;
                            /** @description Duration of a run in milliseconds */
                            durationAboveMs?: number;
                            /** @description Runs in a row that a fallback model answered */
                            fallbacksInRow?: number;
                        } | null;
                        /**
                         * @description The status
                         * @enum {string}
                         */
                        status?: "active" | "paused";
                    };
                };
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "taskId": 42
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `true` on success, `false` on an error
                         * @enum {boolean}
                         */
                        success: true;
                        /** @description The task, by id */
                        taskId: number;
                    };
                };
            };
        };
    };
    listWebhooks: {
        parameters: {
            query?: {
                /**
                 * @description The maximum number of entries on a page; more than 100 counts as 100
                 * @example 20
                 */
                limit?: number;
                /**
                 * @description The number of entries to skip
                 * @example 0
                 */
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "webhooks": [
                     *         {
                     *           "id": "3f6c9b5e-8a1d-4c57-9a43-0d5f6a1b2c3d",
                     *           "userId": 7,
                     *           "purpose": "subscription",
                     *           "taskId": null,
                     *           "url": "https://hooks.example.com/carillon",
                     *           "events": [
                     *             "task.completed",
                     *             "task.failed"
                     *           ],
                     *           "description": "Team chat",
                     *           "isActive": true,
                     *           "status": "active",
                     *           "createdAt": "2026-11-19T16:02:11.038Z"
                     *         }
                     *       ],
                     *       "pagination": {
                     *         "total": 1,
                     *         "limit": 20,
                     *         "offset": 0,
                     *         "hasMore": false
                     *       }
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `true` on success, `false` on an error
                         * @enum {boolean}
                         */
                        success: true;
                        /** @description The webhooks */
                        webhooks: components["schemas"]["Webhook"][];
                        /** @description The position of this page in the list */
                        pagination: {
                            /** @description The number of entries on all pages */
                            total: number;
                            /** @description The maximum number of entries on a page */
                            limit: number;
                            /** @description The number of entries to skip */
                            offset: number;
                            /** @description Whether there are entries after this page */
                            hasMore: boolean;
                        };
                    };
                };
            };
        };
    };
    createWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "url": "https://hooks.example.com/carillon",
                 *       "events": [
                 *         "task.completed",
                 *         "task.failed"
                 *       ],
                 *       "description": "Team chat"
                 *     }
                 */
                "application/json": {
                    /**
                     * Format: http-url
                     * @description The URL that events are sent to
                     */
                    url: string;
                    /** @description Duplicates are ignored */
                    events: ("task.created" | "task.updated" | "task.deleted" | "task.started" | "task.completed" | "task.failed" | "execution.started" | "execution.completed" | "execution.failed" | "task.changed" | "task.overdue" | "task.failing" | "task.recovered" | "task.expensive" | "task.slow" | "task.degraded" | "usage.alert" | "scheduler.silent" | "test")[];
                    /** @description The owner's description */
                    description?: string | null;
                    /** @description Default: a generated secret. After `whsec_` it must be padded base64. It enables the inbound URL if it has 32 to 100 letters, digits, `-`, `.`, `_` and `~` */
                    secret?: string;
                };
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "webhook": {
                     *         "id": "3f6c9b5e-8a1d-4c57-9a43-0d5f6a1b2c3d",
                     *         "userId": 7,
                     *         "url": "https://hooks.example.com/carillon",
                     *         "secret": "whsec_dGhpcyBpcyBubyBzZWNyZXQgYXQgYWxs",
                     *         "events": [
                     *           "task.completed",
                     *           "task.failed"
                     *         ],
                     *         "isActive": true,
                     *         "createdAt": "2026-11-19T16:02:11.038Z"
                     *       }
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `true` on success, `false` on an error
                         * @enum {boolean}
                         */
                        success: true;
                        /** @description The webhook */
                        webhook: {
                            /** @description The id, which never changes */
                            id: string;
                            /** @description The account that owns it, by id */
                            userId: number;
                            /** @description The URL that events are sent to */
                            url: string;
                            /** @description The key that signs each delivery; keep it confidential */
                            secret: string;
                            /** @description The kinds of event that the webhook receives */
                            events: ("task.created" | "task.updated" | "task.deleted" | "task.started" | "task.completed" | "task.failed" | "execution.started" | "execution.completed" | "execution.failed" | "task.changed" | "task.overdue" | "task.failing" | "task.recovered" | "task.expensive" | "task.slow" | "task.degraded" | "usage.alert" | "scheduler.silent" | "test")[];
                            /** @description Whether events are sent */
                            isActive: boolean;
                            /**
                             * Format: date-time
                             * @description When it was created
                             */
                            createdAt: string;
                        };
                    };
                };
            };
        };
    };
    getWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id, which never changes
                 * @example 3f6c9b5e-8a1d-4c57-9a43-0d5f6a1b2c3d
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "webhook": {
                     *         "id": "3f6c9b5e-8a1d-4c57-9a43-0d5f6a1b2c3d",
                     *         "userId": 7,
                     *         "purpose": "subscription",
                     *         "taskId": null,
                     *         "url": "https://hooks.example.com/carillon",
                     *         "events": [
                     *           "task.completed",
                     *           "task.failed"
                     *         ],
                     *         "description": "Team chat",
                     *         "isActive": true,
                     *         "status": "active",
                     *         "createdAt": "2026-11-19T16:02:11.038Z"
                     *       }
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `true` on success, `false` on an error
                         * @enum {boolean}
                         */
                        success: true;
                        /** @description The webhook */
                        webhook: components["schemas"]["Webhook"];
                    };
                };
            };
        };
    };
    deleteWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id, which never changes
                 * @example 3f6c9b5e-8a1d-4c57-9a43-0d5f6a1b2c3d
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "message": "The webhook is deleted."
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `true` on success, `false` on an error
                         * @enum {boolean}
                         */
                        success: true;
                        /** @description A sentence for people */
                        message: string;
                    };
                };
            };
        };
    };
    changeWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id, which never changes
                 * @example 3f6c9b5e-8a1d-4c57-9a43-0d5f6a1b2c3d
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "isActive": false
                 *     }
                 */
                "application/json": {
                    /**
                     * Format: http-url
                     * @description The URL that events are sent to
                     */
                    url?: string;
                    /** @description Duplicates are ignored */
                    events?: ("task.created" | "task.updated" | "task.deleted" | "task.started" | "task.completed" | "task.failed" | "execution.started" | "execution.completed" | "execution.failed" | "task.changed" | "task.overdue" | "task.failing" | "task.recovered" | "task.expensive" | "task.slow" | "task.degraded" | "usage.alert" | "scheduler.silent" | "test")[];
                    /** @description The owner's description */
                    description?: string | null;
                    /** @description `true` also clears `failed`; deliveries wait while it is `false` */
                    isActive?: boolean;
                };
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "webhook": {
                     *         "id": "3f6c9b5e-8a1d-4c57-9a43-0d5f6a1b2c3d",
                     *         "userId": 7,
                     *         "purpose": "subscription",
                     *         "taskId": null,
                     *         "url": "https://hooks.example.com/carillon",
                     *         "events": [
                     *           "task.completed",
                     *           "task.failed"
                     *         ],
                     *         "description": "Team chat",
                     *         "isActive": false,
                     *         "status": "inactive",
                     *         "createdAt": "2026-11-19T16:02:11.038Z"
                     *       }
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `true` on success, `false` on an error
                         * @enum {boolean}
                         */
                        success: true;
                        /** @description The webhook */
                        webhook: components["schemas"]["Webhook"];
                    };
                };
            };
        };
    };
    rotateSecret: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id, which never changes
                 * @example 3f6c9b5e-8a1d-4c57-9a43-0d5f6a1b2c3d
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "webhook": {
                     *         "id": "3f6c9b5e-8a1d-4c57-9a43-0d5f6a1b2c3d",
                     *         "secret": "whsec_dGhpcyBpcyBubyBzZWNyZXQgYXQgYWxs"
                     *       }
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `true` on success, `false` on an error
                         * @enum {boolean}
                         */
                        success: true;
                        /** @description The webhook */
                        webhook: {
                            /** @description The id, which never changes */
                            id: string;
                            /** @description The key that signs each delivery; keep it confidential */
                            secret: string;
                        };
                    };
                };
            };
        };
    };
    testWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id, which never changes
                 * @example 3f6c9b5e-8a1d-4c57-9a43-0d5f6a1b2c3d
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "delivery": {
                     *         "id": "6d2b9f70-1e4c-4b8a-a5d3-f09c7e61b842",
                     *         "webhookId": "3f6c9b5e-8a1d-4c57-9a43-0d5f6a1b2c3d",
                     *         "event": "test",
                     *         "url": "https://hooks.example.com/carillon",
                     *         "statusCode": 200,
                     *         "responseTime": 84,
                     *         "attempt": 1,
                     *         "success": true,
                     *         "timestamp": "2026-11-20T07:30:03.962Z"
                     *       }
                     *     }
                     */
                    "application/json": {
                        /** @description Whether the receiver accepted the delivery */
                        success: boolean;
                        delivery: components["schemas"]["DeliveryAttempt"];
                    };
                };
            };
        };
    };
    listDeliveries: {
        parameters: {
            query?: {
                /**
                 * @description The maximum number of entries on a page; more than 100 counts as 100
                 * @example 50
                 */
                limit?: number;
                /**
                 * @description The number of entries to skip
                 * @example 0
                 */
                offset?: number;
            };
            header?: never;
            path: {
                /**
                 * @description The id, which never changes
                 * @example 3f6c9b5e-8a1d-4c57-9a43-0d5f6a1b2c3d
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "logs": [
                     *         {
                     *           "id": "6d2b9f70-1e4c-4b8a-a5d3-f09c7e61b842",
                     *           "webhookId": "3f6c9b5e-8a1d-4c57-9a43-0d5f6a1b2c3d",
                     *           "event": "task.completed",
                     *           "url": "https://hooks.example.com/carillon",
                     *           "statusCode": 200,
                     *           "responseTime": 84,
                     *           "attempt": 1,
                     *           "success": true,
                     *           "timestamp": "2026-11-20T07:30:03.962Z"
                     *         }
                     *       ],
                     *       "pagination": {
                     *         "total": 1,
                     *         "limit": 50,
                     *         "offset": 0
                     *       }
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `true` on success, `false` on an error
                         * @enum {boolean}
                         */
                        success: true;
                        /** @description The entries of the log */
                        logs: components["schemas"]["DeliveryAttempt"][];
                        /** @description The position of this page in the list */
                        pagination: {
                            /** @description The number of entries on all pages */
                            total: number;
                            /** @description The maximum number of entries on a page */
                            limit: number;
                            /** @description The number of entries to skip */
                            offset: number;
                        };
                    };
                };
            };
        };
    };
    getDeliveryAttempt: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id, which never changes
                 * @example 3f6c9b5e-8a1d-4c57-9a43-0d5f6a1b2c3d
                 */
                id: string;
                /**
                 * @description The entry of the log, by id
                 * @example 6d2b9f70-1e4c-4b8a-a5d3-f09c7e61b842
                 */
                logId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "log": {
                     *         "id": "6d2b9f70-1e4c-4b8a-a5d3-f09c7e61b842",
                     *         "webhookId": "3f6c9b5e-8a1d-4c57-9a43-0d5f6a1b2c3d",
                     *         "event": "task.completed",
                     *         "url": "https://hooks.example.com/carillon",
                     *         "statusCode": 200,
                     *         "responseTime": 84,
                     *         "attempt": 1,
                     *         "success": true,
                     *         "timestamp": "2026-11-20T07:30:03.962Z",
                     *         "deliveryId": "c7e0a5b4-41d9-4f7e-9a6d-2b8e1f3c5d70",
                     *         "error": null
                     *       }
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `true` on success, `false` on an error
                         * @enum {boolean}
                         */
                        success: true;
                        /** @description The entry of the log */
                        log: {
                            /** @description The id, which never changes */
                            id: string;
                            /** @description The webhook, by id */
                            webhookId: string;
                            /**
                             * @description The kind of event
                             * @enum {string}
                             */
                            event: "task.created" | "task.updated" | "task.deleted" | "task.started" | "task.completed" | "task.failed" | "execution.started" | "execution.completed" | "execution.failed" | "task.changed" | "task.overdue" | "task.failing" | "task.recovered" | "task.expensive" | "task.slow" | "task.degraded" | "usage.alert" | "scheduler.silent" | "test";
                            /** @description The URL that events are sent to */
                            url: string;
                            /** @description Null if there was no response */
                            statusCode: number | null;
                            /** @description Milliseconds; 0 if there was no connection */
                            responseTime: number;
                            /** @description The number of the attempt, from 1 */
                            attempt: number;
                            /** @description `true` on success, `false` on an error */
                            success: boolean;
                            /**
                             * Format: date-time
                             * @description When it happened
                             */
                            timestamp: string;
                            /** @description The value of `webhook-id`: the same for each attempt of a delivery */
                            deliveryId: string;
                            /** @description Why the attempt failed */
                            error: string | null;
                        };
                    };
                };
            };
        };
    };
    redeliver: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id, which never changes
                 * @example 3f6c9b5e-8a1d-4c57-9a43-0d5f6a1b2c3d
                 */
                id: string;
                /**
                 * @description The delivery, by id
                 * @example c7e0a5b4-41d9-4f7e-9a6d-2b8e1f3c5d70
                 */
                deliveryId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "deliveryId": "c7e0a5b4-41d9-4f7e-9a6d-2b8e1f3c5d70"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `true` on success, `false` on an error
                         * @enum {boolean}
                         */
                        success: true;
                        /** @description The delivery, by id */
                        deliveryId: string;
                    };
                };
            };
        };
    };
    redeliverSince: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id, which never changes
                 * @example 3f6c9b5e-8a1d-4c57-9a43-0d5f6a1b2c3d
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "since": "2026-11-20T00:00:00Z"
                 *     }
                 */
                "application/json": {
                    /**
                     * Format: date-time
                     * @description ISO 8601 with Z or an offset
                     */
                    since: string;
                };
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "count": 2
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `true` on success, `false` on an error
                         * @enum {boolean}
                         */
                        success: true;
                        /** @description The number of deliveries that are sent again */
                        count: number;
                    };
                };
            };
        };
    };
    listChannels: {
        parameters: {
            query?: {
                /**
                 * @description The maximum number of entries on a page; more than 100 counts as 100
                 * @example 20
                 */
                limit?: number;
                /**
                 * @description The number of entries to skip
                 * @example 0
                 */
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "channels": [
                     *         {
                     *           "id": "3c1f7a52-90de-4b6c-8f21-7d4e0ab95c63",
                     *           "kind": "ntfy",
                     *           "name": "Phone",
                     *           "settings": {
                     *             "url": "https://ntfy.example.com",
                     *             "topic": "morning-news"
                     *           },
                     *           "isForAccount": false,
                     *           "isActive": true,
                     *           "status": "active",
                     *           "isConfirmed": true,
                     *           "quiet": {
                     *             "from": "22:00",
                     *             "to": "07:00",
                     *             "timezone": "Europe/Berlin"
                     *           },
                     *           "minIntervalMinutes": null,
                     *           "digest": "off",
                     *           "digestHour": null,
                     *           "digestTimezone": null,
                     *           "urgent": true,
                     *           "createdAt": "2026-11-19T16:02:11.038Z"
                     *         }
                     *       ],
                     *       "pagination": {
                     *         "total": 1,
                     *         "limit": 20,
                     *         "offset": 0,
                     *         "hasMore": false
                     *       }
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `true` on success, `false` on an error
                         * @enum {boolean}
                         */
                        success: true;
                        /** @description The channels */
                        channels: components["schemas"]["Channel"][];
                        /** @description The position of this page in the list */
                        pagination: {
                            /** @description The number of entries on all pages */
                            total: number;
                            /** @description The maximum number of entries on a page */
                            limit: number;
                            /** @description The number of entries to skip */
                            offset: number;
                            /** @description Whether there are entries after this page */
                            hasMore: boolean;
                        };
                    };
                };
            };
        };
    };
    createChannel: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "kind": "ntfy",
                 *       "name": "Phone",
                 *       "url": "https://ntfy.example.com",
                 *       "topic": "morning-news",
                 *       "quiet": {
                 *         "from": "22:00",
                 *         "to": "07:00",
                 *         "timezone": "Europe/Berlin"
                 *       },
                 *       "urgent": true
                 *     }
                 */
                "application/json": {
                    /**
                     * @description What it reaches
                     * @enum {string}
                     */
                    kind: "slack" | "mattermost" | "teams" | "discord" | "telegram" | "ntfy" | "apprise" | "email";
                    /** @description For its owner. Spaces at its ends are removed */
                    name: string;
                    /**
                     * Format: http-url
                     * @description Of `slack`, `mattermost`, `teams` and `discord`: the incoming webhook, a secret. Of `ntfy` and `apprise`: the server
                     */
                    url?: string;
                    /** @description Of `telegram`: the token of the bot, a secret */
                    botToken?: string;
                    /** @description Of `telegram`: an id, or the `@name` of a channel */
                    chatId?: string;
                    /** @description Of `ntfy`: letters, digits, `-` and `_` */
                    topic?: string;
                    /** @description Of `ntfy`: an access token, a secret */
                    token?: string;
                    /** @description Of `apprise`: the notification URLs, which are secrets. Either these or `key` */
                    urls?: string[];
                    /** @description Of `apprise`: the key of a configuration that the server has, a secret */
                    key?: string;
                    /**
                     * Format: email
                     * @description Of `email`: gets nothing but a link before that is opened
                     */
                    address?: string;
                    /** @description When nothing is sent, by the clock of the time zone. Messages are held and sent together afterwards */
                    quiet?: {
                        /** @description Such as `22:00` */
                        from: string;
                        /** @description Such as `22:00` */
                        to: string;
                        /**
                         * Format: time-zone
                         * @description IANA time zone name
                         */
                        timezone: string;
                    } | null;
                    /** @description Minimum number of minutes between two messages. Messages are held and sent together afterwards */
                    minIntervalMinutes?: number | null;
                    /**
                     * @description Of `email`: one mail an hour or a day with all messages since the previous one. Default: `off`
                     * @enum {string}
                     */
                    digest?: "off" | "hourly" | "daily";
                    /** @description The local hour of a daily digest. Default: 8 */
                    digestHour?: number;
                    /**
                     * Format: time-zone
                     * @description IANA time zone name for `digestHour`. Default: the account's time zone, or UTC
                     */
                    digestTimezone?: string;
                    /** @description Whether alerts are sent in spite of `quiet` and `minIntervalMinutes`. Default: false */
                    urgent?: boolean;
                };
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "channel": {
                     *         "id": "3c1f7a52-90de-4b6c-8f21-7d4e0ab95c63",
                     *         "kind": "ntfy",
                     *         "name": "Phone",
                     *         "settings": {
                     *           "url": "https://ntfy.example.com",
                     *           "topic": "morning-news"
                     *         },
                     *         "isForAccount": false,
                     *         "isActive": true,
                     *         "status": "active",
                     *         "isConfirmed": true,
                     *         "quiet": {
                     *           "from": "22:00",
                     *           "to": "07:00",
                     *           "timezone": "Europe/Berlin"
                     *         },
                     *         "minIntervalMinutes": null,
                     *         "digest": "off",
                     *         "digestHour": null,
                     *         "digestTimezone": null,
                     *         "urgent": true,
                     *         "createdAt": "2026-11-19T16:02:11.038Z"
                     *       }
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `true` on success, `false` on an error
                         * @enum {boolean}
                         */
                        success: true;
                        channel: components["schemas"]["Channel"];
                    };
                };
            };
        };
    };
    getChannel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id, which never changes
                 * @example 3c1f7a52-90de-4b6c-8f21-7d4e0ab95c63
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "channel": {
                     *         "id": "3c1f7a52-90de-4b6c-8f21-7d4e0ab95c63",
                     *         "kind": "ntfy",
                     *         "name": "Phone",
                     *         "settings": {
                     *           "url": "https://ntfy.example.com",
                     *           "topic": "morning-news"
                     *         },
                     *         "isForAccount": false,
                     *         "isActive": true,
                     *         "status": "active",
                     *         "isConfirmed": true,
                     *         "quiet": {
                     *           "from": "22:00",
                     *           "to": "07:00",
                     *           "timezone": "Europe/Berlin"
                     *         },
                     *         "minIntervalMinutes": null,
                     *         "digest": "off",
                     *         "digestHour": null,
                     *         "digestTimezone": null,
                     *         "urgent": true,
                     *         "createdAt": "2026-11-19T16:02:11.038Z"
                     *       }
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `true` on success, `false` on an error
                         * @enum {boolean}
                         */
                        success: true;
                        channel: components["schemas"]["Channel"];
                    };
                };
            };
        };
    };
    deleteChannel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id, which never changes
                 * @example 3c1f7a52-90de-4b6c-8f21-7d4e0ab95c63
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "message": "The channel is deleted."
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `true` on success, `false` on an error
                         * @enum {boolean}
                         */
                        success: true;
                        /** @description A sentence for people */
                        message: string;
                    };
                };
            };
        };
    };
    changeChannel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id, which never changes
                 * @example 3c1f7a52-90de-4b6c-8f21-7d4e0ab95c63
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "quiet": null
                 *     }
                 */
                "application/json": {
                    /** @description For its owner. Spaces at its ends are removed */
                    name?: string;
                    /** @description Also switches a failed channel on again. Mails another link to an unconfirmed address */
                    isActive?: boolean;
                    /**
                     * Format: http-url
                     * @description Of `slack`, `mattermost`, `teams` and `discord`: the incoming webhook, a secret. Of `ntfy` and `apprise`: the server
                     */
                    url?: string;
                    /** @description Of `telegram`: the token of the bot, a secret */
                    botToken?: string;
                    /** @description Of `telegram`: an id, or the `@name` of a channel */
                    chatId?: string;
                    /** @description Of `ntfy`: letters, digits, `-` and `_` */
                    topic?: string;
                    /** @description Of `ntfy`: an access token; null for none */
                    token?: string | null;
                    /** @description Of `apprise`: the notification URLs, which are secrets. Either these or `key` */
                    urls?: string[];
                    /** @description Of `apprise`: the key of a configuration that the server has, a secret */
                    key?: string;
                    /**
                     * Format: email
                     * @description Of `email`: gets nothing but a link before that is opened
                     */
                    address?: string;
                    /** @description When nothing is sent, by the clock of the time zone. Messages are held and sent together afterwards */
                    quiet?: {
                        /** @description Such as `22:00` */
                        from: string;
                        /** @description Such as `22:00` */
                        to: string;
                        /**
                         * Format: time-zone
                         * @description IANA time zone name
                         */
                        timezone: string;
                    } | null;
                    /** @description Minimum number of minutes between two messages. Messages are held and sent together afterwards */
                    minIntervalMinutes?: number | null;
                    /**
                     * @description Of `email`: one mail an hour or a day with all messages since the previous one. Default: `off`
                     * @enum {string}
                     */
                    digest?: "off" | "hourly" | "daily";
                    /** @description The local hour of a daily digest. Default: 8 */
                    digestHour?: number;
                    /**
                     * Format: time-zone
                     * @description IANA time zone name for `digestHour`. Default: the account's time zone, or UTC
                     */
                    digestTimezone?: string;
                    /** @description Whether alerts are sent in spite of `quiet` and `minIntervalMinutes`. Default: false */
                    urgent?: boolean;
                };
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "channel": {
                     *         "id": "3c1f7a52-90de-4b6c-8f21-7d4e0ab95c63",
                     *         "kind": "ntfy",
                     *         "name": "Phone",
                     *         "settings": {
                     *           "url": "https://ntfy.example.com",
                     *           "topic": "morning-news"
                     *         },
                     *         "isForAccount": false,
                     *         "isActive": true,
                     *         "status": "active",
                     *         "isConfirmed": true,
                     *         "quiet": null,
                     *         "minIntervalMinutes": null,
                     *         "digest": "off",
                     *         "digestHour": null,
                     *         "digestTimezone": null,
                     *         "urgent": true,
                     *         "createdAt": "2026-11-19T16:02:11.038Z"
                     *       }
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `true` on success, `false` on an error
                         * @enum {boolean}
                         */
                        success: true;
                        channel: components["schemas"]["Channel"];
                    };
                };
            };
        };
    };
    testChannel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id, which never changes
                 * @example 3c1f7a52-90de-4b6c-8f21-7d4e0ab95c63
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "delivery": {
                     *         "id": "a0d7c6e4-25b1-4f39-9c8a-e16f3b7d0942",
                     *         "deliveryId": "c7e0a5b4-41d9-4f7e-9a6d-2b8e1f3c5d70",
                     *         "channelId": "3c1f7a52-90de-4b6c-8f21-7d4e0ab95c63",
                     *         "event": "test",
                     *         "statusCode": 200,
                     *         "responseTime": 84,
                     *         "attempt": 1,
                     *         "success": true,
                     *         "error": null,
                     *         "timestamp": "2026-11-20T07:30:03.962Z"
                     *       }
                     *     }
                     */
                    "application/json": {
                        /** @description Whether the target accepted the message */
                        success: boolean;
                        delivery: components["schemas"]["ChannelAttempt"];
                    };
                };
            };
        };
    };
    listChannelLogs: {
        parameters: {
            query?: {
                /**
                 * @description The maximum number of entries on a page; more than 100 counts as 100
                 * @example 50
                 */
                limit?: number;
                /**
                 * @description The number of entries to skip
                 * @example 0
                 */
                offset?: number;
            };
            header?: never;
            path: {
                /**
                 * @description The id, which never changes
                 * @example 3c1f7a52-90de-4b6c-8f21-7d4e0ab95c63
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "logs": [
                     *         {
                     *           "id": "a0d7c6e4-25b1-4f39-9c8a-e16f3b7d0942",
                     *           "deliveryId": "c7e0a5b4-41d9-4f7e-9a6d-2b8e1f3c5d70",
                     *           "channelId": "3c1f7a52-90de-4b6c-8f21-7d4e0ab95c63",
                     *           "event": "execution.completed",
                     *           "statusCode": 200,
                     *           "responseTime": 84,
                     *           "attempt": 1,
                     *           "success": true,
                     *           "error": null,
                     *           "timestamp": "2026-11-20T07:30:03.962Z"
                     *         }
                     *       ],
                     *       "pagination": {
                     *         "total": 1,
                     *         "limit": 50,
                     *         "offset": 0
                     *       }
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `true` on success, `false` on an error
                         * @enum {boolean}
                         */
                        success: true;
                        /** @description The entries of the log */
                        logs: components["schemas"]["ChannelAttempt"][];
                        /** @description The position of this page in the list */
                        pagination: {
                            /** @description The number of entries on all pages */
                            total: number;
                            /** @description The maximum number of entries on a page */
                            limit: number;
                            /** @description The number of entries to skip */
                            offset: number;
                        };
                    };
                };
            };
        };
    };
    redeliverMessage: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id, which never changes
                 * @example 3c1f7a52-90de-4b6c-8f21-7d4e0ab95c63
                 */
                id: string;
                /**
                 * @description The delivery, by id
                 * @example c7e0a5b4-41d9-4f7e-9a6d-2b8e1f3c5d70
                 */
                deliveryId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "deliveryId": "c7e0a5b4-41d9-4f7e-9a6d-2b8e1f3c5d70"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `true` on success, `false` on an error
                         * @enum {boolean}
                         */
                        success: true;
                        /** @description The delivery, by id */
                        deliveryId: string;
                    };
                };
            };
        };
    };
    getUsage: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "usage": {
                     *         "period": "2026-11",
                     *         "executions": {
                     *           "used": 401,
                     *           "limit": 500,
                     *           "remaining": 99,
                     *           "percentage": 80.2
                     *         },
                     *         "tokens": {
                     *           "used": 182400,
                     *           "limit": 1000000,
                     *           "remaining": 817600,
                     *           "percentage": 18.24
                     *         },
                     *         "daily": {
                     *           "executions": {
                     *             "used": 12,
                     *             "limit": 50,
                     *             "remaining": 38,
                     *             "percentage": 24
                     *           },
                     *           "tokens": {
                     *             "used": 5310,
                     *             "limit": 100000,
                     *             "remaining": 94690,
                     *             "percentage": 5.31
                     *           }
                     *         },
                     *         "storage": {
                     *           "usedBytes": 5242880,
                     *           "limitBytes": 104857600,
                     *           "usedMB": 5,
                     *           "limitMB": 100,
                     *           "percentage": 5
                     *         },
                     *         "rateLimits": {
                     *           "hitToday": 2,
                     *           "endpoints": [
                     *             {
                     *               "endpoint": "POST /api/agent/create-task",
                     *               "hits": 2,
                     *               "lastHit": "2026-11-19T16:02:11.038Z"
                     *             }
                     *           ]
                     *         },
                     *         "keys": [
                     *           {
                     *             "id": "6a0d8e51-3c7b-4f92-8e15-b4c9d2a7f360",
                     *             "name": "Nightly report",
                     *             "requests": 812
                     *           }
                     *         ],
                     *         "tools": {
                     *           "uses": 14,
                     *           "costUsd": 0.11
                     *         },
                     *         "saved": {
                     *           "runs": 912,
                     *           "estimatedCostUsd": 3.648
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `true` on success, `false` on an error
                         * @enum {boolean}
                         */
                        success: true;
                        /** @description The usage and its limits */
                        usage: {
                            /** @description The month in UTC, `YYYY-MM` */
                            period: string;
                            /** @description Executions of the month */
                            executions: {
                                /** @description The current usage */
                                used: number;
                                /** @description The limit of the plan */
                                limit: number;
                                /** @description 0 if the limit is exceeded */
                                remaining: number;
                                /** @description Percentage of the limit: 0–100, at most two decimals; 100 if exceeded */
                                percentage: number;
                            };
                            /** @description Tokens of the month, input and output */
                            tokens: {
                                /** @description The current usage */
                                used: number;
                                /** @description The limit of the plan */
                                limit: number;
                                /** @description 0 if the limit is exceeded */
                                remaining: number;
                                /** @description Percentage of the limit: 0–100, at most two decimals; 100 if exceeded */
                                percentage: number;
                            };
                            /** @description The same for the day in UTC */
                            daily: {
                                /** @description Executions of the day */
                                executions: {
                                    /** @description The current usage */
                                    used: number;
                                    /** @description The limit of the plan */
                                    limit: number;
                                    /** @description 0 if the limit is exceeded */
                                    remaining: number;
                                    /** @description Percentage of the limit: 0–100, at most two decimals; 100 if exceeded */
                                    percentage: number;
                                };
                                /** @description Tokens of the day */
                                tokens: {
                                    /** @description The current usage */
                                    used: number;
                                    /** @description The limit of the plan */
                                    limit: number;
                                    /** @description 0 if the limit is exceeded */
                                    remaining: number;
                                    /** @description Percentage of the limit: 0–100, at most two decimals; 100 if exceeded */
                                    percentage: number;
                                };
                            };
                            /** @description Bytes of all files */
                            storage: {
                                /** @description Bytes of all files */
                                usedBytes: number;
                                /** @description Bytes that the plan allows */
                                limitBytes: number;
                                /** @description In MiB, at most two decimals */
                                usedMB: number;
                                /** @description In MiB, at most two decimals */
                                limitMB: number;
                                /** @description Percentage of the limit: 0–100, at most two decimals; 100 if exceeded */
                                percentage: number;
                            };
                            /** @description Requests rejected by a rate limit */
                            rateLimits: {
                                /** @description Requests rejected with 429 since midnight UTC */
                                hitToday: number;
                                /** @description The endpoints of these requests, the most frequent first */
                                endpoints: {
                                    /** @description Method and path */
                                    endpoint: string;
                                    /** @description The number of rejected requests */
                                    hits: number;
                                    /**
                                     * Format: date-time
                                     * @description When the last one was rejected
                                     */
                                    lastHit: string;
                                }[];
                            };
                            /** @description The API keys with their requests in the period, the most used first. Requests of the last seconds may be missing */
                            keys: {
                                /**
                                 * Format: uuid
                                 * @description The id, which never changes
                                 */
                                id: string;
                                /** @description The name */
                                name: string;
                                /** @description The requests in the period */
                                requests: number;
                            }[];
                            /** @description The web tools that models have used in the period */
                            tools: {
                                /** @description Web searches and pages fetched */
                                uses: number;
                                /** @description The part of the cost that the providers report for tools alone */
                                costUsd: number;
                            };
                            /** @description What unchanged sources have saved in the period */
                            saved: {
                                /** @description Planned runs that ended as `unchanged` */
                                runs: number;
                                /** @description What they would have cost, by the last completed run of each task */
                                estimatedCostUsd: number;
                            };
                        };
                    };
                };
            };
        };
    };
    listUsageAlerts: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "alerts": [
                     *         {
                     *           "id": 5,
                     *           "threshold": 80,
                     *           "notifyEmail": true,
                     *           "notifyWebhook": false
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `true` on success, `false` on an error
                         * @enum {boolean}
                         */
                        success: true;
                        /** @description The alerts */
                        alerts: components["schemas"]["UsageAlert"][];
                    };
                };
            };
        };
    };
    setUsageAlert: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "threshold": 80,
                 *       "notifyEmail": true,
                 *       "notifyWebhook": false
                 *     }
                 */
                "application/json": {
                    /** @description Percent of a monthly limit */
                    threshold: number;
                    /** @description Whether a mail is sent */
                    notifyEmail: boolean;
                    /** @description Whether the event `usage.alert` is sent */
                    notifyWebhook: boolean;
                };
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "alert": {
                     *         "id": 5,
                     *         "threshold": 80,
                     *         "notifyEmail": true,
                     *         "notifyWebhook": false
                     *       }
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `true` on success, `false` on an error
                         * @enum {boolean}
                         */
                        success: true;
                        /** @description The alert */
                        alert: components["schemas"]["UsageAlert"];
                    };
                };
            };
        };
    };
    deleteUsageAlert: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id, which never changes
                 * @example 5
                 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "message": "The alert is deleted."
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `true` on success, `false` on an error
                         * @enum {boolean}
                         */
                        success: true;
                        /** @description A sentence for people */
                        message: string;
                    };
                };
            };
        };
    };
    validateNotes: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "apiKey": "ntn_an_example_and_no_key"
                 *     }
                 */
                "application/json": {
                    /** @description An integration secret or an OAuth token of Notion; it begins with `ntn_` or `secret_` */
                    apiKey: string;
                };
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "valid": true,
                     *       "workspace": {
                     *         "name": "Alice's notes",
                     *         "owner": "Alice",
                     *         "id": "5d0e8b7a-2c41-4f96-b3a8-7e19c6d2f05b"
                     *       }
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description Whether the value is valid
                         * @enum {boolean}
                         */
                        valid: true;
                        /** @description The workspace of the key */
                        workspace: {
                            /** @description The name */
                            name: string;
                            /** @description The person that the key belongs to, else the workspace */
                            owner: string;
                            /** @description The id of the workspace; if Notion does not return it, the id of the user of the key */
                            id: string;
                        };
                    };
                };
            };
        };
    };
    validateDesign: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "token": "figd_an_example_and_no_token"
                 *     }
                 */
                "application/json": {
                    /** @description A personal token of Figma; it begins with `figd_` */
                    token: string;
                };
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "valid": true,
                     *       "user": {
                     *         "name": "Alice",
                     *         "email": "alice@example.com",
                     *         "id": "1094278300215"
                     *       }
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description Whether the value is valid
                         * @enum {boolean}
                         */
                        valid: true;
                        /** @description The account */
                        user: {
                            /** @description The name of the user */
                            name: string;
                            /** @description The e-mail address that the account signs in with, in lower case */
                            email: string;
                            /** @description The id, which never changes */
                            id: string;
                        };
                    };
                };
            };
        };
    };
    listNotifications: {
        parameters: {
            query?: {
                /**
                 * @description `true` for unread, `false` for read notifications. Default: both
                 * @example true
                 */
                unread?: boolean;
                /**
                 * @description The maximum number of entries on a page; more than 100 counts as 100
                 * @example 20
                 */
                limit?: number;
                /** @description The number of entries to skip */
                offset?: number;
                /** @description `pagination.nextCursor` of the previous page */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "notifications": [
                     *         {
                     *           "id": 31,
                     *           "kind": "usage.alert",
                     *           "title": "80 % of your executions are used",
                     *           "message": "401 of 500 executions of this month are used, which is 80.2 %.",
                     *           "readAt": null,
                     *           "createdAt": "2026-11-20T07:30:03.871Z"
                     *         }
                     *       ],
                     *       "pagination": {
                     *         "total": 1,
                     *         "limit": 20,
                     *         "offset": 0,
                     *         "hasMore": false,
                     *         "nextCursor": null
                     *       }
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `true` on success, `false` on an error
                         * @enum {boolean}
                         */
                        success: true;
                        /** @description The notifications */
                        notifications: components["schemas"]["Notification"][];
                        /** @description The position of this page in the list */
                        pagination: {
                            /** @description Null if the page was requested by `cursor` */
                            total: number | null;
                            /** @description The maximum number of entries on a page */
                            limit: number;
                            /** @description The number of entries to skip */
                            offset: number;
                            /** @description Whether there are entries after this page */
                            hasMore: boolean;
                            /** @description The `cursor` of the next page; null on the last one */
                            nextCursor: string | null;
                        };
                    };
                };
            };
        };
    };
    readNotification: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id, which never changes
                 * @example 31
                 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `true` on success, `false` on an error
                         * @enum {boolean}
                         */
                        success: true;
                    };
                };
            };
        };
    };
    activateCoupon: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "code": "7K2M-QX4T-9ZB1-HN5C"
                 *     }
                 */
                "application/json": {
                    /** @description The code, case-insensitive */
                    code: string;
                };
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "message": "The coupon is applied: your trial is longer.",
                     *       "coupon": {
                     *         "code": "7K2M-QX4T-9ZB1-HN5C",
                     *         "type": "TRIAL_EXTENSION",
                     *         "value": 14,
                     *         "appliedAt": "2026-11-20T09:15:27.204Z"
                     *       },
                     *       "user": {
                     *         "trialEndsAt": "2026-12-17T15:58:40.512Z"
                     *       }
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `true` on success, `false` on an error
                         * @enum {boolean}
                         */
                        success: true;
                        /** @description A sentence for people */
                        message: string;
                        /** @description The coupon */
                        coupon: {
                            /** @description The code, case-insensitive */
                            code: string;
                            /** @description `TRIAL_EXTENSION` */
                            type: string;
                            /** @description Days by which the trial is extended */
                            value: number;
                            /**
                             * Format: date-time
                             * @description When it was applied
                             */
                            appliedAt: string;
                        };
                        /** @description The account */
                        user: {
                            /**
                             * Format: date-time
                             * @description When the trial ends; executions are 402 afterwards. Null for no end
                             */
                            trialEndsAt: string;
                        };
                    };
                };
            };
        };
    };
    createUpload: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "file": "day,visits\n2026-11-19,120\n2026-11-20,131\n"
                 *     }
                 */
                "multipart/form-data": {
                    /**
                     * Format: binary
                     * @description The file with its name
                     */
                    file: string;
                };
            };
        };
        responses: {
            /** @description The stored file */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "url": "https://files.example.com/3f9c2e71a05b8d463f9c2e71a05b8d463f9c2e71a05b8d46.csv",
                     *       "name": "visits.csv",
                     *       "size": 41,
                     *       "type": "text/csv",
                     *       "uploadedAt": "2026-11-20T09:15:27.204Z",
                     *       "storage": "blob"
                     *     }
                     */
                    "application/json": components["schemas"]["Upload"];
                };
            };
        };
    };
    deleteUpload: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description Exactly one of `url` and `id` */
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "id": "8c1f4e0a-6b2d-4f39-9a57-3e0d7c5b1a26"
                 *     }
                 */
                "application/json": {
                    /** @description The `url` of the record; a data URL is accepted too */
                    url?: string;
                    /**
                     * Format: uuid
                     * @description The id of the file
                     */
                    id?: string;
                };
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `true` on success, `false` on an error
                         * @enum {boolean}
                         */
                        success: true;
                    };
                };
            };
        };
    };
    "on.task.created": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "event": "task.created",
                 *       "timestamp": "2026-11-20T07:30:03.871Z",
                 *       "webhookId": "3f6c9b5e-8a1d-4c57-9a43-0d5f6a1b2c3d",
                 *       "userId": 7,
                 *       "data": {
                 *         "task": {
                 *           "id": 42,
                 *           "name": "Morning sentence",
                 *           "prompt": "Write one sentence that begins a working day well.",
                 *           "recurrence": "daily",
                 *           "scheduledFor": "2026-11-20T07:30:00.000Z",
                 *           "status": "active",
                 *           "createdAt": "2026-11-19T16:02:11.038Z"
                 *         }
                 *       }
                 *     }
                 */
                "application/json": {
                    /**
                     * @description The kind of event
                     * @constant
                     */
                    event: "task.created";
                    /**
                     * Format: date-time
                     * @description When it happened
                     */
                    timestamp: string;
                    /** @description The webhook, by id */
                    webhookId: string;
                    /** @description The account that owns it, by id */
                    userId: number;
                    /** @description The details, depending on the kind of event */
                    data: {
                        /** @description The task */
                        task: {
                            /** @description The id, which never changes */
                            id: number;
                            /** @description The name */
                            name: string;
                            /** @description The prompt that is sent to the model */
                            prompt: string;
                            /**
                             * @description How often the task runs; with a `recurrencePattern`, the closest recurrence
                             * @enum {string}
                             */
                            recurrence: "once" | "daily" | "weekly" | "monthly";
                            /**
                             * Format: date-time
                             * @description The first run, from which the following ones are computed
                             */
                            scheduledFor: string;
                            /**
                             * @description `active` runs as scheduled, `paused` does not run, `completed` and `failed` have ended
                             * @enum {string}
                             */
                            status: "active" | "paused" | "completed" | "failed";
                            /**
                             * Format: date-time
                             * @description When it was created
                             */
                            createdAt: string;
                        };
                    };
                };
            };
        };
        responses: {
            /** @description Accepted; respond within 5 seconds */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "on.task.updated": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "event": "task.updated",
                 *       "timestamp": "2026-11-20T07:30:03.871Z",
                 *       "webhookId": "3f6c9b5e-8a1d-4c57-9a43-0d5f6a1b2c3d",
                 *       "userId": 7,
                 *       "data": {
                 *         "task": {
                 *           "id": 42,
                 *           "name": "Morning sentence",
                 *           "updatedAt": "2026-11-20T07:30:03.871Z"
                 *         },
                 *         "changes": {
                 *           "name": {
                 *             "from": "Sentence",
                 *             "to": "Morning sentence"
                 *           }
                 *         }
                 *       }
                 *     }
                 */
                "application/json": {
                    /**
                     * @description The kind of event
                     * @constant
                     */
                    event: "task.updated";
                    /**
                     * Format: date-time
                     * @description When it happened
                     */
                    timestamp: string;
                    /** @description The webhook, by id */
                    webhookId: string;
                    /** @description The account that owns it, by id */
                    userId: number;
                    /** @description The details, depending on the kind of event */
                    data: {
                        /** @description The task */
                        task: {
                            /** @description The id, which never changes */
                            id: number;
                            /** @description The name */
                            name: string;
                            /**
                             * Format: date-time
                             * @description When it was last changed
                             */
                            updatedAt: string;
                        };
                        /** @description The previous and the new value, by field */
                        changes: {
                            [key: string]: {
                                /** @description The previous value */
                                from: unknown;
                                /** @description The new value */
                                to: unknown;
                            };
                        };
                    };
                };
            };
        };
        responses: {
            /** @description Accepted; respond within 5 seconds */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "on.task.deleted": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "event": "task.deleted",
                 *       "timestamp": "2026-11-20T07:30:03.871Z",
                 *       "webhookId": "3f6c9b5e-8a1d-4c57-9a43-0d5f6a1b2c3d",
                 *       "userId": 7,
                 *       "data": {
                 *         "task": {
                 *           "id": 42,
                 *           "name": "Morning sentence",
                 *           "deletedAt": "2026-11-20T07:30:03.871Z"
                 *         }
                 *       }
                 *     }
                 */
                "application/json": {
                    /**
                     * @description The kind of event
                     * @constant
                     */
                    event: "task.deleted";
                    /**
                     * Format: date-time
                     * @description When it happened
                     */
                    timestamp: string;
                    /** @description The webhook, by id */
                    webhookId: string;
                    /** @description The account that owns it, by id */
                    userId: number;
                    /** @description The details, depending on the kind of event */
                    data: {
                        /** @description The task */
                        task: {
                            /** @description The id, which never changes */
                            id: number;
                            /** @description The name */
                            name: string;
                            /**
                             * Format: date-time
                             * @description When it was deleted
                             */
                            deletedAt: string;
                        };
                    };
                };
            };
        };
        responses: {
            /** @description Accepted; respond within 5 seconds */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "on.task.started": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "event": "task.started",
                 *       "timestamp": "2026-11-20T07:30:03.871Z",
                 *       "webhookId": "3f6c9b5e-8a1d-4c57-9a43-0d5f6a1b2c3d",
                 *       "userId": 7,
                 *       "data": {
                 *         "task": {
                 *           "id": 42,
                 *           "name": "Morning sentence"
                 *         },
                 *         "execution": {
                 *           "id": 1207,
                 *           "status": "running",
                 *           "startedAt": "2026-11-20T07:30:00.412Z",
                 *           "estimatedDurationMs": 3400
                 *         }
                 *       }
                 *     }
                 */
                "application/json": {
                    /**
                     * @description The kind of event
                     * @constant
                     */
                    event: "task.started";
                    /**
                     * Format: date-time
                     * @description When it happened
                     */
                    timestamp: string;
                    /** @description The webhook, by id */
                    webhookId: string;
                    /** @description The account that owns it, by id */
                    userId: number;
                    /** @description The details, depending on the kind of event */
                    data: {
                        /** @description The task */
                        task: {
                            /** @description The id, which never changes */
                            id: number;
                            /** @description The name */
                            name: string;
                        };
                        /** @description The execution */
                        execution: {
                            /** @description The id, which never changes */
                            id: number;
                            /**
                             * @description `pending` is queued, `running` waits for the model, `completed` and `failed` have ended
                             * @enum {string}
                             */
                            status: "pending" | "running" | "completed" | "failed";
                            /**
                             * Format: date-time
                             * @description When it started; null before that
                             */
                            startedAt: string;
                            /** @description The usual duration of such a run, in milliseconds */
                            estimatedDurationMs: number;
                        };
                    };
                };
            };
        };
        responses: {
            /** @description Accepted; respond within 5 seconds */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "on.task.completed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "event": "task.completed",
                 *       "timestamp": "2026-11-20T07:30:03.871Z",
                 *       "webhookId": "3f6c9b5e-8a1d-4c57-9a43-0d5f6a1b2c3d",
                 *       "userId": 7,
                 *       "data": {
                 *         "task": {
                 *           "id": 42,
                 *           "name": "Morning sentence",
                 *           "status": "active"
                 *         },
                 *         "execution": {
                 *           "id": 1207,
                 *           "status": "completed",
                 *           "result": "Begin with the thing that you would rather put off.",
                 *           "tokensUsed": {
                 *             "input": 31,
                 *             "output": 14,
                 *             "total": 45
                 *           },
                 *           "processingTimeMs": 3459,
                 *           "startedAt": "2026-11-20T07:30:00.412Z",
                 *           "completedAt": "2026-11-20T07:30:03.871Z",
                 *           "citations": [
                 *             {
                 *               "url": "https://example.com/focus",
                 *               "title": "Why the hardest task comes first"
                 *             }
                 *           ],
                 *           "toolUses": 1
                 *         }
                 *       }
                 *     }
                 */
                "application/json": {
                    /**
                     * @description The kind of event
                     * @constant
                     */
                    event: "task.completed";
                    /**
                     * Format: date-time
                     * @description When it happened
                     */
                    timestamp: string;
                    /** @description The webhook, by id */
                    webhookId: string;
                    /** @description The account that owns it, by id */
                    userId: number;
                    /** @description The details, depending on the kind of event */
                    data: {
                        /** @description The task */
                        task: {
                            /** @description The id, which never changes */
                            id: number;
                            /** @description The name */
                            name: string;
                            /**
                             * @description `active` runs as scheduled, `paused` does not run, `completed` and `failed` have ended
                             * @enum {string}
                             */
                            status: "active" | "paused" | "completed" | "failed";
                        };
                        /** @description The execution */
                        execution: {
                            /** @description The id, which never changes */
                            id: number;
                            /**
                             * @description `pending` is queued, `running` waits for the model, `completed` and `failed` have ended
                             * @enum {string}
                             */
                            status: "pending" | "running" | "completed" | "failed";
                            /** @description The answer of the model; null until the execution is `completed` */
                            result: string | null;
                            /** @description Tokens charged to the quota, input and output */
                            tokensUsed: {
                                /** @description Input tokens */
                                input: number;
                                /** @description Output tokens */
                                output: number;
                                /** @description Input and output tokens */
                                total: number;
                            };
                            /** @description From start to end, in milliseconds */
                            processingTimeMs: number;
                            /**
                             * Format: date-time
                             * @description When it started; null before that
                             */
                            startedAt: string;
                            /**
                             * Format: date-time
                             * @description When it completed or failed; null before that
                             */
                            completedAt: string;
                            /** @description The pages that the answer cites, in its order; only of a task with tools */
                            citations?: {
                                /** @description An http or https address */
                                url: string;
                                /** @description The title of the page; its host if the provider sent none */
                                title: string;
                            }[];
                            /** @description How often the model used its tools; only of a task with tools */
                            toolUses?: number;
                            /** @description The parsed result of a task with an output schema */
                            output?: unknown;
                            /** @description Whether it differs from the last success; missing if there was none, and if `notify` is `always` without `watch` */
                            changed?: boolean;
                            /** @description What differs; missing whenever `changed` is */
                            changes?: {
                                /** @description A path such as `releases[0].date` or `releases[version="1.2"].date`; empty for the whole output or text */
                                path: string;
                                /** @description The earlier value; missing if there was none */
                                from?: unknown;
                                /** @description The new value; missing if there is none */
                                to?: unknown;
                                /** @description Whether a value is too long and only a part of it is here; without `from` and `to`, whether further changes were left out */
                                cut?: boolean;
                            }[];
                            /**
                             * @description Missing if nothing decides it
                             * @enum {string}
                             */
                            outcome?: "done" | "nothing_new" | "not_done";
                            /** @description One sentence; missing whenever `outcome` is */
                            outcomeReason?: string;
                        };
                    };
                };
            };
        };
        responses: {
            /** @description Accepted; respond within 5 seconds */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "on.task.failed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "event": "task.failed",
                 *       "timestamp": "2026-11-20T07:30:03.871Z",
                 *       "webhookId": "3f6c9b5e-8a1d-4c57-9a43-0d5f6a1b2c3d",
                 *       "userId": 7,
                 *       "data": {
                 *         "task": {
                 *           "id": 42,
                 *           "name": "Morning sentence",
                 *           "status": "active"
                 *         },
                 *         "execution": {
                 *           "id": 1207,
                 *           "status": "failed",
                 *           "error": "The provider is busy.",
                 *           "errorCode": "RATE_LIMIT_EXCEEDED",
                 *           "startedAt": "2026-11-20T07:30:00.412Z",
                 *           "failedAt": "2026-11-20T07:30:03.871Z",
                 *           "processingTimeMs": 3459
                 *         },
                 *         "retryScheduled": true,
                 *         "nextRetryAt": "2026-11-20T07:31:03.871Z"
                 *       }
                 *     }
                 */
                "application/json": {
                    /**
                     * @description The kind of event
                     * @constant
                     */
                    event: "task.failed";
                    /**
                     * Format: date-time
                     * @description When it happened
                     */
                    timestamp: string;
                    /** @description The webhook, by id */
                    webhookId: string;
                    /** @description The account that owns it, by id */
                    userId: number;
                    /** @description The details, depending on the kind of event */
                    data: {
                        /** @description The task */
                        task: {
                            /** @description The id, which never changes */
                            id: number;
                            /** @description The name */
                            name: string;
                            /**
                             * @description `active` runs as scheduled, `paused` does not run, `completed` and `failed` have ended
                             * @enum {string}
                             */
                            status: "active" | "paused" | "completed" | "failed";
                        };
                        /** @description The execution */
                        execution: {
                            /** @description The id, which never changes */
                            id: number;
                            /**
                             * @description `pending` is queued, `running` waits for the model, `completed` and `failed` have ended
                             * @enum {string}
                             */
                            status: "pending" | "running" | "completed" | "failed";
                            /** @description Why it failed; null unless it failed */
                            error: string;
                            /**
                             * @description Why it failed, for programs
                             * @enum {string}
                             */
                            errorCode: "RATE_LIMIT_EXCEEDED" | "TIMEOUT" | "PROVIDER_UNAVAILABLE" | "PROVIDER_ERROR" | "AUTHENTICATION_FAILED" | "UNKNOWN_MODEL" | "INVALID_REQUEST" | "CONTENT_FILTERED" | "QUOTA_EXCEEDED" | "INTERRUPTED" | "INVALID_OUTPUT" | "CANCELLED";
                            /**
                             * Format: date-time
                             * @description When it started; null before that
                             */
                            startedAt: string | null;
                            /**
                             * Format: date-time
                             * @description When it failed
                             */
                            failedAt: string;
                            /** @description From start to end, in milliseconds */
                            processingTimeMs: number | null;
                        };
                        /** @description Whether a retry is scheduled */
                        retryScheduled: boolean;
                        /**
                         * Format: date-time
                         * @description When it is retried; null if it is not
                         */
                        nextRetryAt: string | null;
                    };
                };
            };
        };
        responses: {
            /** @description Accepted; respond within 5 seconds */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "on.execution.started": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "event": "execution.started",
                 *       "timestamp": "2026-11-20T07:30:03.871Z",
                 *       "webhookId": "3f6c9b5e-8a1d-4c57-9a43-0d5f6a1b2c3d",
                 *       "userId": 7,
                 *       "data": {
                 *         "task": {
                 *           "id": 42,
                 *           "name": "Morning sentence"
                 *         },
                 *         "execution": {
                 *           "id": 1207,
                 *           "status": "running",
                 *           "startedAt": "2026-11-20T07:30:00.412Z",
                 *           "estimatedDurationMs": 3400
                 *         }
                 *       }
                 *     }
                 */
                "application/json": {
                    /**
                     * @description The kind of event
                     * @constant
                     */
                    event: "execution.started";
                    /**
                     * Format: date-time
                     * @description When it happened
                     */
                    timestamp: string;
                    /** @description The webhook, by id */
                    webhookId: string;
                    /** @description The account that owns it, by id */
                    userId: number;
                    /** @description The details, depending on the kind of event */
                    data: {
                        /** @description The task */
                        task: {
                            /** @description The id, which never changes */
                            id: number;
                            /** @description The name */
                            name: string;
                        };
                        /** @description The execution */
                        execution: {
                            /** @description The id, which never changes */
                            id: number;
                            /**
                             * @description `pending` is queued, `running` waits for the model, `completed` and `failed` have ended
                             * @enum {string}
                             */
                            status: "pending" | "running" | "completed" | "failed";
                            /**
                             * Format: date-time
                             * @description When it started; null before that
                             */
                            startedAt: string;
                            /** @description The usual duration of such a run, in milliseconds */
                            estimatedDurationMs: number;
                        };
                    };
                };
            };
        };
        responses: {
            /** @description Accepted; respond within 5 seconds */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "on.execution.completed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "event": "execution.completed",
                 *       "timestamp": "2026-11-20T07:30:03.871Z",
                 *       "webhookId": "3f6c9b5e-8a1d-4c57-9a43-0d5f6a1b2c3d",
                 *       "userId": 7,
                 *       "data": {
                 *         "task": {
                 *           "id": 42,
                 *           "name": "Morning sentence",
                 *           "status": "active"
                 *         },
                 *         "execution": {
                 *           "id": 1207,
                 *           "status": "completed",
                 *           "result": "Begin with the thing that you would rather put off.",
                 *           "tokensUsed": {
                 *             "input": 31,
                 *             "output": 14,
                 *             "total": 45
                 *           },
                 *           "processingTimeMs": 3459,
                 *           "startedAt": "2026-11-20T07:30:00.412Z",
                 *           "completedAt": "2026-11-20T07:30:03.871Z",
                 *           "citations": [
                 *             {
                 *               "url": "https://example.com/focus",
                 *               "title": "Why the hardest task comes first"
                 *             }
                 *           ],
                 *           "toolUses": 1
                 *         }
                 *       }
                 *     }
                 */
                "application/json": {
                    /**
                     * @description The kind of event
                     * @constant
                     */
                    event: "execution.completed";
                    /**
                     * Format: date-time
                     * @description When it happened
                     */
                    timestamp: string;
                    /** @description The webhook, by id */
                    webhookId: string;
                    /** @description The account that owns it, by id */
                    userId: number;
                    /** @description The details, depending on the kind of event */
                    data: {
                        /** @description The task */
                        task: {
                            /** @description The id, which never changes */
                            id: number;
                            /** @description The name */
                            name: string;
                            /**
                             * @description `active` runs as scheduled, `paused` does not run, `completed` and `failed` have ended
                             * @enum {string}
                             */
                            status: "active" | "paused" | "completed" | "failed";
                        };
                        /** @description The execution */
                        execution: {
                            /** @description The id, which never changes */
                            id: number;
                            /**
                             * @description `pending` is queued, `running` waits for the model, `completed` and `failed` have ended
                             * @enum {string}
                             */
                            status: "pending" | "running" | "completed" | "failed";
                            /** @description The answer of the model; null until the execution is `completed` */
                            result: string | null;
                            /** @description Tokens charged to the quota, input and output */
                            tokensUsed: {
                                /** @description Input tokens */
                                input: number;
                                /** @description Output tokens */
                                output: number;
                                /** @description Input and output tokens */
                                total: number;
                            };
                            /** @description From start to end, in milliseconds */
                            processingTimeMs: number;
                            /**
                             * Format: date-time
                             * @description When it started; null before that
                             */
                            startedAt: string;
                            /**
                             * Format: date-time
                             * @description When it completed or failed; null before that
                             */
                            completedAt: string;
                            /** @description The pages that the answer cites, in its order; only of a task with tools */
                            citations?: {
                                /** @description An http or https address */
                                url: string;
                                /** @description The title of the page; its host if the provider sent none */
                                title: string;
                            }[];
                            /** @description How often the model used its tools; only of a task with tools */
                            toolUses?: number;
                            /** @description The parsed result of a task with an output schema */
                            output?: unknown;
                            /** @description Whether it differs from the last success; missing if there was none, and if `notify` is `always` without `watch` */
                            changed?: boolean;
                            /** @description What differs; missing whenever `changed` is */
                            changes?: {
                                /** @description A path such as `releases[0].date` or `releases[version="1.2"].date`; empty for the whole output or text */
                                path: string;
                                /** @description The earlier value; missing if there was none */
                                from?: unknown;
                                /** @description The new value; missing if there is none */
                                to?: unknown;
                                /** @description Whether a value is too long and only a part of it is here; without `from` and `to`, whether further changes were left out */
                                cut?: boolean;
                            }[];
                            /**
                             * @description Missing if nothing decides it
                             * @enum {string}
                             */
                            outcome?: "done" | "nothing_new" | "not_done";
                            /** @description One sentence; missing whenever `outcome` is */
                            outcomeReason?: string;
                        };
                    };
                };
            };
        };
        responses: {
            /** @description Accepted; respond within 5 seconds */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "on.execution.failed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "event": "execution.failed",
                 *       "timestamp": "2026-11-20T07:30:03.871Z",
                 *       "webhookId": "3f6c9b5e-8a1d-4c57-9a43-0d5f6a1b2c3d",
                 *       "userId": 7,
                 *       "data": {
                 *         "task": {
                 *           "id": 42,
                 *           "name": "Morning sentence",
                 *           "status": "active"
                 *         },
                 *         "execution": {
                 *           "id": 1207,
                 *           "status": "failed",
                 *           "error": "The provider is busy.",
                 *           "errorCode": "RATE_LIMIT_EXCEEDED",
                 *           "startedAt": "2026-11-20T07:30:00.412Z",
                 *           "failedAt": "2026-11-20T07:30:03.871Z",
                 *           "processingTimeMs": 3459
                 *         },
                 *         "retryScheduled": true,
                 *         "nextRetryAt": "2026-11-20T07:31:03.871Z"
                 *       }
                 *     }
                 */
                "application/json": {
                    /**
                     * @description The kind of event
                     * @constant
                     */
                    event: "execution.failed";
                    /**
                     * Format: date-time
                     * @description When it happened
                     */
                    timestamp: string;
                    /** @description The webhook, by id */
                    webhookId: string;
                    /** @description The account that owns it, by id */
                    userId: number;
                    /** @description The details, depending on the kind of event */
                    data: {
                        /** @description The task */
                        task: {
                            /** @description The id, which never changes */
                            id: number;
                            /** @description The name */
                            name: string;
                            /**
                             * @description `active` runs as scheduled, `paused` does not run, `completed` and `failed` have ended
                             * @enum {string}
                             */
                            status: "active" | "paused" | "completed" | "failed";
                        };
                        /** @description The execution */
                        execution: {
                            /** @description The id, which never changes */
                            id: number;
                            /**
                             * @description `pending` is queued, `running` waits for the model, `completed` and `failed` have ended
                             * @enum {string}
                             */
                            status: "pending" | "running" | "completed" | "failed";
                            /** @description Why it failed; null unless it failed */
                            error: string;
                            /**
                             * @description Why it failed, for programs
                             * @enum {string}
                             */
                            errorCode: "RATE_LIMIT_EXCEEDED" | "TIMEOUT" | "PROVIDER_UNAVAILABLE" | "PROVIDER_ERROR" | "AUTHENTICATION_FAILED" | "UNKNOWN_MODEL" | "INVALID_REQUEST" | "CONTENT_FILTERED" | "QUOTA_EXCEEDED" | "INTERRUPTED" | "INVALID_OUTPUT" | "CANCELLED";
                            /**
                             * Format: date-time
                             * @description When it started; null before that
                             */
                            startedAt: string | null;
                            /**
                             * Format: date-time
                             * @description When it failed
                             */
                            failedAt: string;
                            /** @description From start to end, in milliseconds */
                            processingTimeMs: number | null;
                        };
                        /** @description Whether a retry is scheduled */
                        retryScheduled: boolean;
                        /**
                         * Format: date-time
                         * @description When it is retried; null if it is not
                         */
                        nextRetryAt: string | null;
                    };
                };
            };
        };
        responses: {
            /** @description Accepted; respond within 5 seconds */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "on.task.changed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "event": "task.changed",
                 *       "timestamp": "2026-11-20T07:30:03.871Z",
                 *       "webhookId": "3f6c9b5e-8a1d-4c57-9a43-0d5f6a1b2c3d",
                 *       "userId": 7,
                 *       "data": {
                 *         "task": {
                 *           "id": 42,
                 *           "name": "Morning sentence",
                 *           "status": "active"
                 *         },
                 *         "execution": {
                 *           "id": 1207,
                 *           "status": "completed",
                 *           "result": "Begin with the thing that you would rather put off.",
                 *           "tokensUsed": {
                 *             "input": 31,
                 *             "output": 14,
                 *             "total": 45
                 *           },
                 *           "processingTimeMs": 3459,
                 *           "startedAt": "2026-11-20T07:30:00.412Z",
                 *           "completedAt": "2026-11-20T07:30:03.871Z",
                 *           "citations": [
                 *             {
                 *               "url": "https://example.com/focus",
                 *               "title": "Why the hardest task comes first"
                 *             }
                 *           ],
                 *           "toolUses": 1,
                 *           "changed": true,
                 *           "changes": [
                 *             {
                 *               "path": "",
                 *               "from": "Begin early.",
                 *               "to": "Begin with the thing that you would rather put off."
                 *             }
                 *           ]
                 *         }
                 *       }
                 *     }
                 */
                "application/json": {
                    /**
                     * @description The kind of event
                     * @constant
                     */
                    event: "task.changed";
                    /**
                     * Format: date-time
                     * @description When it happened
                     */
                    timestamp: string;
                    /** @description The webhook, by id */
                    webhookId: string;
                    /** @description The account that owns it, by id */
                    userId: number;
                    /** @description The details, depending on the kind of event */
                    data: {
                        /** @description The task */
                        task: {
                            /** @description The id, which never changes */
                            id: number;
                            /** @description The name */
                            name: string;
                            /**
                             * @description `active` runs as scheduled, `paused` does not run, `completed` and `failed` have ended
                             * @enum {string}
                             */
                            status: "active" | "paused" | "completed" | "failed";
                        };
                        /** @description The execution */
                        execution: {
                            /** @description The id, which never changes */
                            id: number;
                            /**
                             * @description `pending` is queued, `running` waits for the model, `completed` and `failed` have ended
                             * @enum {string}
                             */
                            status: "pending" | "running" | "completed" | "failed";
                            /** @description The answer of the model; null until the execution is `completed` */
                            result: string | null;
                            /** @description Tokens charged to the quota, input and output */
                            tokensUsed: {
                                /** @description Input tokens */
                                input: number;
                                /** @description Output tokens */
                                output: number;
                                /** @description Input and output tokens */
                                total: number;
                            };
                            /** @description From start to end, in milliseconds */
                            processingTimeMs: number;
                            /**
                             * Format: date-time
                             * @description When it started; null before that
                             */
                            startedAt: string;
                            /**
                             * Format: date-time
                             * @description When it completed or failed; null before that
                             */
                            completedAt: string;
                            /** @description The pages that the answer cites, in its order; only of a task with tools */
                            citations?: {
                                /** @description An http or https address */
                                url: string;
                                /** @description The title of the page; its host if the provider sent none */
                                title: string;
                            }[];
                            /** @description How often the model used its tools; only of a task with tools */
                            toolUses?: number;
                            /** @description The parsed result of a task with an output schema */
                            output?: unknown;
                            /** @description Whether it differs from the last success; missing if there was none, and if `notify` is `always` without `watch` */
                            changed?: boolean;
                            /** @description What differs; missing whenever `changed` is */
                            changes?: {
                                /** @description A path such as `releases[0].date` or `releases[version="1.2"].date`; empty for the whole output or text */
                                path: string;
                                /** @description The earlier value; missing if there was none */
                                from?: unknown;
                                /** @description The new value; missing if there is none */
                                to?: unknown;
                                /** @description Whether a value is too long and only a part of it is here; without `from` and `to`, whether further changes were left out */
                                cut?: boolean;
                            }[];
                            /**
                             * @description Missing if nothing decides it
                             * @enum {string}
                             */
                            outcome?: "done" | "nothing_new" | "not_done";
                            /** @description One sentence; missing whenever `outcome` is */
                            outcomeReason?: string;
                        };
                    };
                };
            };
        };
        responses: {
            /** @description Accepted; respond within 5 seconds */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "on.task.overdue": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "event": "task.overdue",
                 *       "timestamp": "2026-11-20T07:30:03.871Z",
                 *       "webhookId": "3f6c9b5e-8a1d-4c57-9a43-0d5f6a1b2c3d",
                 *       "userId": 7,
                 *       "data": {
                 *         "task": {
                 *           "id": 42,
                 *           "name": "Morning sentence"
                 *         },
                 *         "plannedFor": "2026-11-20T07:30:00.000Z",
                 *         "overdueMinutes": 15
                 *       }
                 *     }
                 */
                "application/json": {
                    /**
                     * @description The kind of event
                     * @constant
                     */
                    event: "task.overdue";
                    /**
                     * Format: date-time
                     * @description When it happened
                     */
                    timestamp: string;
                    /** @description The webhook, by id */
                    webhookId: string;
                    /** @description The account that owns it, by id */
                    userId: number;
                    /** @description The details, depending on the kind of event */
                    data: {
                        /** @description The task */
                        task: {
                            /** @description The id, which never changes */
                            id: number;
                            /** @description The name */
                            name: string;
                        };
                        /**
                         * Format: date-time
                         * @description The first planned instant without an ended run
                         */
                        plannedFor: string;
                        /** @description The limit of the rule */
                        overdueMinutes: number;
                    };
                };
            };
        };
        responses: {
            /** @description Accepted; respond within 5 seconds */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "on.task.failing": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "event": "task.failing",
                 *       "timestamp": "2026-11-20T07:30:03.871Z",
                 *       "webhookId": "3f6c9b5e-8a1d-4c57-9a43-0d5f6a1b2c3d",
                 *       "userId": 7,
                 *       "data": {
                 *         "task": {
                 *           "id": 42,
                 *           "name": "Morning sentence"
                 *         },
                 *         "execution": {
                 *           "id": 1207,
                 *           "status": "failed"
                 *         },
                 *         "failuresInRow": 3,
                 *         "error": "The provider is busy.",
                 *         "errorCode": "RATE_LIMIT_EXCEEDED",
                 *         "stopped": false
                 *       }
                 *     }
                 */
                "application/json": {
                    /**
                     * @description The kind of event
                     * @constant
                     */
                    event: "task.failing";
                    /**
                     * Format: date-time
                     * @description When it happened
                     */
                    timestamp: string;
                    /** @description The webhook, by id */
                    webhookId: string;
                    /** @description The account that owns it, by id */
                    userId: number;
                    /** @description The details, depending on the kind of event */
                    data: {
                        /** @description The task */
                        task: {
                            /** @description The id, which never changes */
                            id: number;
                            /** @description The name */
                            name: string;
                        };
                        /** @description Null if the sources of the task were read and no run followed */
                        execution: {
                            /** @description The id, which never changes */
                            id: number;
                            /**
                             * @description `pending` is queued, `running` waits for the model, `completed` and `failed` have ended
                             * @enum {string}
                             */
                            status: "pending" | "running" | "completed" | "failed";
                        } | null;
                        /** @description The number of failed runs in a row */
                        failuresInRow: number;
                        /** @description Of the last run: its error, or why it was not done */
                        error: string;
                        /**
                         * @description Null if the last run has completed and was not done
                         * @enum {string|null}
                         */
                        errorCode: "RATE_LIMIT_EXCEEDED" | "TIMEOUT" | "PROVIDER_UNAVAILABLE" | "PROVIDER_ERROR" | "AUTHENTICATION_FAILED" | "UNKNOWN_MODEL" | "INVALID_REQUEST" | "CONTENT_FILTERED" | "QUOTA_EXCEEDED" | "INTERRUPTED" | "INVALID_OUTPUT" | "CANCELLED" | null;
                        /** @description Whether this failure has switched the task off */
                        stopped: boolean;
                        /** @description The names of the sources that cannot be read, if they are the reason */
                        sources?: string[];
                    };
                };
            };
        };
        responses: {
            /** @description Accepted; respond within 5 seconds */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "on.task.recovered": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "event": "task.recovered",
                 *       "timestamp": "2026-11-20T07:30:03.871Z",
                 *       "webhookId": "3f6c9b5e-8a1d-4c57-9a43-0d5f6a1b2c3d",
                 *       "userId": 7,
                 *       "data": {
                 *         "task": {
                 *           "id": 42,
                 *           "name": "Morning sentence"
                 *         },
                 *         "execution": {
                 *           "id": 1207,
                 *           "status": "completed"
                 *         },
                 *         "since": "2026-11-20T07:30:00.000Z"
                 *       }
                 *     }
                 */
                "application/json": {
                    /**
                     * @description The kind of event
                     * @constant
                     */
                    event: "task.recovered";
                    /**
                     * Format: date-time
                     * @description When it happened
                     */
                    timestamp: string;
                    /** @description The webhook, by id */
                    webhookId: string;
                    /** @description The account that owns it, by id */
                    userId: number;
                    /** @description The details, depending on the kind of event */
                    data: {
                        /** @description The task */
                        task: {
                            /** @description The id, which never changes */
                            id: number;
                            /** @description The name */
                            name: string;
                        };
                        /** @description Null if the sources of the task were read and no run followed */
                        execution: {
                            /** @description The id, which never changes */
                            id: number;
                            /**
                             * @description `pending` is queued, `running` waits for the model, `completed` and `failed` have ended
                             * @enum {string}
                             */
                            status: "pending" | "running" | "completed" | "failed";
                        } | null;
                        /**
                         * Format: date-time
                         * @description When the first alert was sent
                         */
                        since: string;
                    };
                };
            };
        };
        responses: {
            /** @description Accepted; respond within 5 seconds */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "on.task.expensive": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "event": "task.expensive",
                 *       "timestamp": "2026-11-20T07:30:03.871Z",
                 *       "webhookId": "3f6c9b5e-8a1d-4c57-9a43-0d5f6a1b2c3d",
                 *       "userId": 7,
                 *       "data": {
                 *         "task": {
                 *           "id": 42,
                 *           "name": "Morning sentence"
                 *         },
                 *         "execution": {
                 *           "id": 1207,
                 *           "status": "completed"
                 *         },
                 *         "costUsd": 0.14,
                 *         "costAboveUsd": 0.1
                 *       }
                 *     }
                 */
                "application/json": {
                    /**
                     * @description The kind of event
                     * @constant
                     */
                    event: "task.expensive";
                    /**
                     * Format: date-time
                     * @description When it happened
                     */
                    timestamp: string;
                    /** @description The webhook, by id */
                    webhookId: string;
                    /** @description The account that owns it, by id */
                    userId: number;
                    /** @description The details, depending on the kind of event */
                    data: {
                        /** @description The task */
                        task: {
                            /** @description The id, which never changes */
                            id: number;
                            /** @description The name */
                            name: string;
                        };
                        /** @description The execution */
                        execution: {
                            /** @description The id, which never changes */
                            id: number;
                            /**
                             * @description `pending` is queued, `running` waits for the model, `completed` and `failed` have ended
                             * @enum {string}
                             */
                            status: "pending" | "running" | "completed" | "failed";
                        };
                        /** @description The cost in US dollars: as reported by the provider, else by a price list, else 0 */
                        costUsd: number;
                        /** @description The limit of the rule */
                        costAboveUsd: number;
                    };
                };
            };
        };
        responses: {
            /** @description Accepted; respond within 5 seconds */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "on.task.slow": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "event": "task.slow",
                 *       "timestamp": "2026-11-20T07:30:03.871Z",
                 *       "webhookId": "3f6c9b5e-8a1d-4c57-9a43-0d5f6a1b2c3d",
                 *       "userId": 7,
                 *       "data": {
                 *         "task": {
                 *           "id": 42,
                 *           "name": "Morning sentence"
                 *         },
                 *         "execution": {
                 *           "id": 1207,
                 *           "status": "completed"
                 *         },
                 *         "durationMs": 64210,
                 *         "durationAboveMs": 60000
                 *       }
                 *     }
                 */
                "application/json": {
                    /**
                     * @description The kind of event
                     * @constant
                     */
                    event: "task.slow";
                    /**
                     * Format: date-time
                     * @description When it happened
                     */
                    timestamp: string;
                    /** @description The webhook, by id */
                    webhookId: string;
                    /** @description The account that owns it, by id */
                    userId: number;
                    /** @description The details, depending on the kind of event */
                    data: {
                        /** @description The task */
                        task: {
                            /** @description The id, which never changes */
                            id: number;
                            /** @description The name */
                            name: string;
                        };
                        /** @description The execution */
                        execution: {
                            /** @description The id, which never changes */
                            id: number;
                            /**
                             * @description `pending` is queued, `running` waits for the model, `completed` and `failed` have ended
                             * @enum {string}
                             */
                            status: "pending" | "running" | "completed" | "failed";
                        };
                        /** @description How long the run took, in milliseconds */
                        durationMs: number;
                        /** @description The limit of the rule */
                        durationAboveMs: number;
                    };
                };
            };
        };
        responses: {
            /** @description Accepted; respond within 5 seconds */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "on.task.degraded": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "event": "task.degraded",
                 *       "timestamp": "2026-11-20T07:30:03.871Z",
                 *       "webhookId": "3f6c9b5e-8a1d-4c57-9a43-0d5f6a1b2c3d",
                 *       "userId": 7,
                 *       "data": {
                 *         "task": {
                 *           "id": 42,
                 *           "name": "Morning sentence"
                 *         },
                 *         "execution": {
                 *           "id": 1207,
                 *           "status": "completed"
                 *         },
                 *         "fallbacksInRow": 3,
                 *         "modelAttempts": [
                 *           {
                 *             "model": "local/llama3.2",
                 *             "errorCode": "PROVIDER_UNAVAILABLE",
                 *             "message": "The provider could not be reached (ECONNREFUSED).",
                 *             "ms": 9
                 *           },
                 *           {
                 *             "model": "openai/gpt-5-mini",
                 *             "errorCode": null,
                 *             "message": null,
                 *             "ms": 3459
                 *           }
                 *         ]
                 *       }
                 *     }
                 */
                "application/json": {
                    /**
                     * @description The kind of event
                     * @constant
                     */
                    event: "task.degraded";
                    /**
                     * Format: date-time
                     * @description When it happened
                     */
                    timestamp: string;
                    /** @description The webhook, by id */
                    webhookId: string;
                    /** @description The account that owns it, by id */
                    userId: number;
                    /** @description The details, depending on the kind of event */
                    data: {
                        /** @description The task */
                        task: {
                            /** @description The id, which never changes */
                            id: number;
                            /** @description The name */
                            name: string;
                        };
                        /** @description The execution */
                        execution: {
                            /** @description The id, which never changes */
                            id: number;
                            /**
                             * @description `pending` is queued, `running` waits for the model, `completed` and `failed` have ended
                             * @enum {string}
                             */
                            status: "pending" | "running" | "completed" | "failed";
                        };
                        /** @description The limit of the rule */
                        fallbacksInRow: number;
                        /** @description The models that the last of these runs asked */
                        modelAttempts: {
                            /** @description As the task names it */
                            model: string;
                            /**
                             * @description Why it failed, for programs
                             * @enum {string|null}
                             */
                            errorCode: "RATE_LIMIT_EXCEEDED" | "TIMEOUT" | "PROVIDER_UNAVAILABLE" | "PROVIDER_ERROR" | "AUTHENTICATION_FAILED" | "UNKNOWN_MODEL" | "INVALID_REQUEST" | "CONTENT_FILTERED" | "QUOTA_EXCEEDED" | "INTERRUPTED" | "INVALID_OUTPUT" | "CANCELLED" | null;
                            /** @description Why the model did not answer; null for the one that answered */
                            message: string | null;
                            /** @description How long the call took */
                            ms: number;
                        }[];
                    };
                };
            };
        };
        responses: {
            /** @description Accepted; respond within 5 seconds */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "on.usage.alert": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "event": "usage.alert",
                 *       "timestamp": "2026-11-20T07:30:03.871Z",
                 *       "webhookId": "3f6c9b5e-8a1d-4c57-9a43-0d5f6a1b2c3d",
                 *       "userId": 7,
                 *       "data": {
                 *         "resource": "executions",
                 *         "threshold": 80,
                 *         "percentage": 80.2,
                 *         "used": 401,
                 *         "limit": 500,
                 *         "period": "2026-11"
                 *       }
                 *     }
                 */
                "application/json": {
                    /**
                     * @description The kind of event
                     * @constant
                     */
                    event: "usage.alert";
                    /**
                     * Format: date-time
                     * @description When it happened
                     */
                    timestamp: string;
                    /** @description The webhook, by id */
                    webhookId: string;
                    /** @description The account that owns it, by id */
                    userId: number;
                    /** @description The details, depending on the kind of event */
                    data: {
                        /** @description The resource: `executions`, `tokens` or `storage` */
                        resource: string;
                        /** @description Percent of the monthly limit */
                        threshold: number;
                        /** @description Share of the limit: 0 to 100 */
                        percentage: number;
                        /** @description The current usage */
                        used: number;
                        /** @description The limit of the plan */
                        limit: number;
                        /** @description `YYYY-MM` */
                        period: string;
                    };
                };
            };
        };
        responses: {
            /** @description Accepted; respond within 5 seconds */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "on.scheduler.silent": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "event": "scheduler.silent",
                 *       "timestamp": "2026-11-20T07:30:03.871Z",
                 *       "webhookId": "3f6c9b5e-8a1d-4c57-9a43-0d5f6a1b2c3d",
                 *       "userId": 7,
                 *       "data": {
                 *         "lastCalledAt": "2026-11-20T07:30:00.000Z"
                 *       }
                 *     }
                 */
                "application/json": {
                    /**
                     * @description The kind of event
                     * @constant
                     */
                    event: "scheduler.silent";
                    /**
                     * Format: date-time
                     * @description When it happened
                     */
                    timestamp: string;
                    /** @description The webhook, by id */
                    webhookId: string;
                    /** @description The account that owns it, by id */
                    userId: number;
                    /** @description The details, depending on the kind of event */
                    data: {
                        /**
                         * Format: date-time
                         * @description When the scheduler last called
                         */
                        lastCalledAt: string;
                    };
                };
            };
        };
        responses: {
            /** @description Accepted; respond within 5 seconds */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "on.test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "event": "test",
                 *       "timestamp": "2026-11-20T07:30:03.871Z",
                 *       "webhookId": "3f6c9b5e-8a1d-4c57-9a43-0d5f6a1b2c3d",
                 *       "userId": 7,
                 *       "data": {
                 *         "message": "This is a test delivery from Carillon.",
                 *         "testId": "0b6f1a52-7a5b-4f0e-9d0c-5a9a4f3f2f10"
                 *       }
                 *     }
                 */
                "application/json": {
                    /**
                     * @description The kind of event
                     * @constant
                     */
                    event: "test";
                    /**
                     * Format: date-time
                     * @description When it happened
                     */
                    timestamp: string;
                    /** @description The webhook, by id */
                    webhookId: string;
                    /** @description The account that owns it, by id */
                    userId: number;
                    /** @description The details, depending on the kind of event */
                    data: {
                        /** @description A sentence for people */
                        message: string;
                        /** @description Distinguishes one test from another */
                        testId: string;
                    };
                };
            };
        };
        responses: {
            /** @description Accepted; respond within 5 seconds */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
}
