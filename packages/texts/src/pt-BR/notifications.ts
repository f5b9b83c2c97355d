import type { notifications as en } from '../en/notifications.ts';
import { formats } from './formats.ts';

const { count, number } = formats;

export const notifications: typeof en = {
  title: 'Notificações',
  allRead: 'Todas lidas.',
  unread: (notifications, isMore) =>
    `${number(notifications)}${isMore ? ' ou mais' : ''} ${notifications === 1 ? 'não lida' : 'não lidas'}.`,
  filter: 'Filtro',
  filterAll: 'Todas',
  filterUnread: 'Não lidas',
  empty: 'Nenhuma notificação ainda. Falhas, limites e webhooks desativados aparecem aqui.',
  noUnread: 'Nenhuma notificação não lida.',
  noEarlier: 'Nenhuma notificação anterior.',
  showAll: 'Mostrar todas',
  setUsageAlert: 'Definir um alerta de uso',
  count: (notifications) => count(notifications, 'notificação', 'notificações'),
  new: 'nova',
  markRead: 'Marcar como lida',
  markAllRead: 'Marcar todas como lidas',
  marked: (notifications, isComplete) =>
    `${count(notifications, 'notificação foi marcada', 'notificações foram marcadas')} como ${
      notifications === 1 ? 'lida' : 'lidas'
    }.${isComplete ? '' : ' Há mais: marque todas de novo.'}`,
  see: {
    tasks: 'Ver tarefa',
    executions: 'Ver execução',
    channels: 'Ver canal',
    webhooks: 'Ver webhook',
  },
  seeAll: {
    tasks: 'Ver tarefas',
    channels: 'Ver canais',
    webhooks: 'Ver webhooks',
    usage: 'Ver uso',
    alerts: 'Ver alertas',
    admin: 'Ver administração',
  },
  filterAlerts: 'Alertas',
};
