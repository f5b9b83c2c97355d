import type { ApiMessage } from '../api-message.ts';

/** Messages of the API that pages say with other words. The others are the same. */
export const apiMessages: { exact: Partial<Record<ApiMessage, string>> } = {
  exact: {
    'is required': 'must not be empty',
    'must be a number or null': 'must be a number',
    'must be an integer': 'must be a whole number',
    'must be an integer or null': 'must be a whole number',
    'must be an e-mail address': 'must be a valid e-mail address',
    'must be after `from`': 'must be after the start',
    'must differ from `from`': 'must differ from the start',
    'has passed: give a new one in the future': 'must be in the future',
    'is reached: give a larger number, or null': 'is reached: enter a larger number',
    'must be after the next run, or null': 'must be after the next run',
    'must be before the last run, or null': 'must be before the last run',
    'The quota of {} active tasks is used up: pause or delete one first.':
      'You have {} active tasks, the maximum. Pause or delete one first.',
    'The quota of {} executions is used up until {}.': 'All {} runs are used. Runs resume on {}.',
    'The quota of {} tokens is used up until {}.': 'All {} tokens are used. Runs resume on {}.',
    'The task has spent {} of its monthlyBudgetUsd of {}, and the rest does not cover another run. The next month begins at {}.':
      'The task has spent {} of its monthly budget of {}. The rest is too small for another run. It resumes on {}.',
    'Confirm with your password first.': 'Confirm your password first.',
  },
};
