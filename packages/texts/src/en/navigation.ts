/** The frame of every page: its menu and what surrounds the content. */
export const navigation = {
  skip: 'Skip to content',
  menu: 'Menu',
  main: 'Main',
  home: 'Home',
  tasks: 'Tasks',
  runs: 'Runs',
  agent: 'Agent',
  files: 'Files',
  alerts: 'Alerts',
  channels: 'Channels',
  webhooks: 'Webhooks',
  notifications: 'Notifications',
  usage: 'Usage',
  settings: 'Settings',
  administration: 'Administration',
  unread: 'unread',
  /** `place` is the city of the time zone. */
  localTime: (place: string, time: string) => `${place}, ${time}`,
  signOut: 'Sign out',
  sessionEnded: 'Your session has ended, and nothing was changed. Sign in and try again.',
};
