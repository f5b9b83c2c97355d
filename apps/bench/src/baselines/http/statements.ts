/** Values: the ids of session and user. */
export const SESSION = `
    select u.id, u.email, u.name, u.role, u.plan, u.timezone from sessions s join users u on u.id = s.user_id
    where s.id = $1 and s.user_id = $2 and s.expires_at > now() and u.is_active`;

/** Half of the fields of Carillon's answer. */
const MAIN_FIELDS = `id, user_id as "userId", name, description, prompt, scheduled_for as "scheduledFor",
  next_execution_at as "nextExecutionAt", recurrence, recurrence_pattern as "recurrencePattern", interval, timezone,
  ai_model as "aiModel", fallback_models as "fallbackModels", require_tools as "requireTools", max_tokens as "maxTokens", temperature, status, execution_count as "executionCount",
  last_execution_at as "lastExecutionAt", attachment_ids as attachments, created_at as "createdAt",
  updated_at as "updatedAt"`;

/** The fields of Carillon's answer. */
const ALL_FIELDS = `${MAIN_FIELDS}, webhook_url as "webhookUrl", notification_email as "notificationEmail", channels,
  context, output_schema as "outputSchema", tools, max_tool_uses as "maxToolUses", notify, watch, missed, overlap,
  ends_at as "endsAt", max_runs as "maxRuns", paused_until as "pausedUntil", timeout_ms as "timeoutMs",
  monthly_budget_usd as "monthlyBudgetUsd", max_retries as "maxRetries", alerts`;

/** Values: the ids of task and user. */
export const TASK = `select ${MAIN_FIELDS} from tasks where id = $1 and user_id = $2`;

/** Values: the ids of task and user. */
export const WHOLE_TASK = `select ${ALL_FIELDS}, revision from tasks where id = $1 and user_id = $2`;

/** Counts in Carillon's table, which is unlogged. Values: the key, and the length of the window in seconds. */
export const COUNT = `
    insert into rate_windows as w (key, count, ends_at) values ($1, 1, now() + $2::int * interval '1 second')
    on conflict (key) do update set
      count = case when w.ends_at > now() then w.count + 1 else 1 end,
      ends_at = case when w.ends_at > now() then w.ends_at else excluded.ends_at end
    returning count, ends_at as "endsAt"`;

/** Values: the id of the user, the id that the rows are below, and the number of rows. */
export const TASK_PAGE = `select ${ALL_FIELDS} from tasks where user_id = $1 and id < $2 order by id desc limit $3`;

/** Values as for `TASK_PAGE`. */
export const EXECUTION_PAGE = `
    select id, task_id as "taskId", user_id as "userId", status, result, output, changed, changes, citations,
      tool_uses as "toolUses", provider, model_attempts as "modelAttempts", outcome, outcome_reason as "outcomeReason", seen_at as "seenAt",
      truncated, error, error_code as "errorCode", input_tokens as "inputTokens",
      output_tokens as "outputTokens", tokens_estimated as "tokensEstimated", cost_usd as "costUsd", model,
      processing_time_ms as "processingTimeMs", trigger, planned_for as "plannedFor", attempt,
      retry_of_id as "retryOfId", created_at as "createdAt", started_at as "startedAt", completed_at as "completedAt"
    from executions where user_id = $1 and id < $2 order by id desc limit $3`;
