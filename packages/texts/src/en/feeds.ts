export const feeds = {
  off: 'The newest 50 answers, for a feed reader. Anyone with the URL can read them.',
  onSince: (date: string) => `On since ${date}. The URL was shown once; a new one replaces it.`,
  create: 'Create feed',
  replace: 'Replace feed URL',
  end: 'End feed',
  task: 'Task',
  created: 'The feed is on',
  ofAllTasks: 'The newest 50 answers of all tasks.',
  ofTask: 'The newest 50 answers of the task.',
  urlOnce: 'The URL is shown only once.',
  urlCopy: 'Copy it now. Later you can only replace it.',
  url: 'URL',
  urlHint:
    'Add it to a feed reader. Anyone with it can read the answers, so treat it like a password. The previous URL of this feed no longer works.',
  confirm: 'Confirm your password',
  confirmSubtitle: 'Anyone with the URL of a feed can read its answers.',
  ended: 'The feed has ended. Its URL no longer works.',
};
