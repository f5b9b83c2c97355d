/** Why a run failed, and what a person can do. */
export const failures = {
  openSettings: 'Open the settings',
  openUsage: 'Open usage',
  openProviders: 'Open AI providers',
  openSystemSettings: 'Open system settings',
  /** What an administrator does instead. */
  forAdmins: {
    AUTHENTICATION_FAILED:
      'Replace your own key in your settings, or the key of this server: AI_API_KEY, ANTHROPIC_API_KEY, or the provider in the administration. Then retry.',
    UNKNOWN_MODEL:
      'Choose another model in the task. If no provider is set, set AI_BASE_URL or add a provider in the administration.',
    PROVIDER_UNAVAILABLE:
      'Retry in a few minutes. If it happens again, check AI_BASE_URL, or the base URL of the provider in the administration.',
    QUOTA_EXCEEDED: 'Add credit at the provider, or change its key in the administration. Then retry.',
    overQuota: "Raise the number of runs per user and day in the system settings, or the user's plan. Then retry.",
  },
  RATE_LIMIT_EXCEEDED: {
    why: "The provider's rate limit was reached (429)",
    whatToDo: 'Retry in a few minutes. If it happens often, run your tasks at different times.',
  },
  TIMEOUT: {
    why: 'The provider did not answer in time',
    whatToDo: 'Retry now. If it happens often, ask for a shorter answer or choose a faster model.',
  },
  PROVIDER_UNAVAILABLE: {
    why: 'The provider is not available',
    whatToDo: 'Retry in a few minutes. The task itself is fine.',
  },
  PROVIDER_ERROR: {
    why: 'The provider returned an invalid answer',
    whatToDo: 'Retry now. If it happens again, choose another model.',
  },
  AUTHENTICATION_FAILED: {
    why: 'The provider rejected the API key',
    whatToDo: 'Replace your own key, or ask an administrator if you have not set one. Then retry.',
  },
  UNKNOWN_MODEL: {
    why: 'The provider does not have this model',
    whatToDo: 'Choose another model in the task. Then retry.',
  },
  INVALID_REQUEST: {
    why: 'The provider rejected the request',
    whatToDo: 'Check the model, the maximum length and the attachments of the task. Then retry.',
  },
  CONTENT_FILTERED: {
    why: "The provider's content filter rejected the request",
    whatToDo: 'Change the prompt. Then retry.',
  },
  QUOTA_EXCEEDED: {
    why: 'The account at the provider has no credit left',
    whatToDo: 'Add credit at the provider, or ask an administrator. Then retry.',
  },
  INTERRUPTED: {
    why: 'The run was interrupted before the answer came',
    whatToDo: 'Retry now. The task itself is fine.',
  },
  INVALID_OUTPUT: {
    why: 'The answer does not match the output schema',
    whatToDo: 'Say in the prompt what the answer must contain, or edit the schema. Then retry.',
  },
  CANCELLED: {
    why: 'The run was stopped',
    whatToDo: 'Run the task again if you still want its answer.',
  },
  overQuota: {
    why: 'Your quota is used',
    whatToDo: 'Runs resume when the quota resets. Retry then.',
  },
  unknown: {
    why: 'The run failed',
    whatToDo: 'Retry now.',
  },
};
