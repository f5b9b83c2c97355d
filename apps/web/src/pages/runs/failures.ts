import type { ExecutionErrorCode } from '@carillon/contract/executions';

interface Failure {
  /** What happened, as a heading. */
  why: string;
  whatToDo: string;
  /** Where that is done. */
  link?: { href: string; text: string };
}

const FAILURES: Record<ExecutionErrorCode, Failure> = {
  RATE_LIMIT_EXCEEDED: {
    why: 'The AI provider limits how often it may be asked',
    whatToDo: 'Retry it in a few minutes. If it happens often, let your tasks run at different times.',
  },
  TIMEOUT: {
    why: 'The AI provider did not answer in time',
    whatToDo: 'Retry it now. If it happens often, ask for a shorter answer or choose a faster model in the task.',
  },
  PROVIDER_UNAVAILABLE: {
    why: 'The AI provider could not be used',
    whatToDo: 'Retry it in a few minutes. Nothing is wrong with the task.',
  },
  PROVIDER_ERROR: {
    why: 'The AI provider sent an answer that cannot be used',
    whatToDo: 'Retry it now. If it happens again, choose another model in the task.',
  },
  AUTHENTICATION_FAILED: {
    why: 'The AI provider refused the API key',
    whatToDo:
      'Replace your own key, if you have set one; otherwise tell the people who run this server. Then retry it.',
    link: { href: '/settings', text: 'Open the settings' },
  },
  UNKNOWN_MODEL: {
    why: 'The AI provider does not have the model',
    whatToDo: 'Choose another model in the task. Then retry it.',
  },
  INVALID_REQUEST: {
    why: 'The request could not be answered as it was',
    whatToDo: 'Edit the task: the model, its length or its attachments. Then retry it.',
  },
  CONTENT_FILTERED: {
    why: 'The content filter of the AI provider refused the request',
    whatToDo: 'Word the prompt differently. Then retry it.',
  },
  QUOTA_EXCEEDED: {
    why: 'The account with the AI provider has no credit left',
    whatToDo: 'Add credit at the provider, or tell the people who run this server. Then retry it.',
  },
  INTERRUPTED: {
    why: 'The run was broken off before its answer came',
    whatToDo: 'Retry it now. Nothing is wrong with the task.',
  },
  INVALID_OUTPUT: {
    why: 'The answer does not match the output schema',
    whatToDo: 'Say in the prompt what the answer must contain, or edit the schema. Then retry it.',
  },
  CANCELLED: {
    why: 'The run was stopped',
    whatToDo: 'Run the task again if you still want its answer.',
  },
};

const OVER_QUOTA: Failure = {
  why: 'Your quota was used up',
  whatToDo: 'Look up when the quota is renewed, and retry it then.',
  link: { href: '/usage', text: 'Open the usage' },
};

/** Why a run failed and what to do about it. A run that never started was refused by a quota of Carillon. */
export function describeFailure(errorCode: ExecutionErrorCode | null, hasStarted: boolean): Failure {
  if (errorCode === 'QUOTA_EXCEEDED' && !hasStarted) return OVER_QUOTA;
  return errorCode === null ? { why: 'The run failed', whatToDo: 'Retry it now.' } : FAILURES[errorCode];
}
