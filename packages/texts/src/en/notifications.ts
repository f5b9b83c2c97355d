import { formats } from './formats.ts';

const { count, number } = formats;

export const notifications = {
  title: 'Notifications',
  allRead: 'All read.',
  unread: (notifications: number, isMore: boolean) => `${number(notifications)}${isMore ? ' or more' : ''} unread.`,
  filter: 'Filter',
  filterAll: 'All',
  filterUnread: 'Unread',
  empty: 'No notifications yet. Failures, limits and switched-off webhooks appear here.',
  noUnread: 'No unread notifications.',
  noEarlier: 'No earlier notifications.',
  showAll: 'Show all',
  setUsageAlert: 'Set a usage alert',
  count: (notifications: number) => count(notifications, 'notification', 'notifications'),
  new: 'new',
  markRead: 'Mark as read',
  markAllRead: 'Mark all as read',
  marked: (notifications: number, isComplete: boolean) =>
    `${count(notifications, 'notification is', 'notifications are')} marked as read.${
      isComplete ? '' : ' There are more: mark all again.'
    }`,
  seeUsage: 'See usage',
  seeFailedRuns: 'See failed runs',
  seeTasks: 'See tasks',
  seeAlerts: 'See alerts',
  seeChannels: 'See channels',
  seeChannel: 'See channel',
  seeWebhook: 'See webhook',
  seeService: 'See administration',
};
