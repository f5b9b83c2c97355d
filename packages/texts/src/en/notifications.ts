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
  /** By the first part of an address. */
  see: {
    tasks: 'See task',
    executions: 'See run',
    channels: 'See channel',
    webhooks: 'See webhook',
  },
  seeAll: {
    tasks: 'See tasks',
    channels: 'See channels',
    webhooks: 'See webhooks',
    usage: 'See usage',
    alerts: 'See alerts',
    admin: 'See administration',
  },
  filterAlerts: 'Alerts',
};
