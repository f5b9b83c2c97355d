import type { alerts as en } from '../en/alerts.ts';
import { parts } from '../parts.ts';
import { formats } from './formats.ts';

const { count } = formats;

const describeAttempts = (attempts: number, reason: string | null) =>
  `${attempts > 0 ? ` após ${count(attempts, 'tentativa', 'tentativas')}` : ''}${reason === null ? '' : `: ${reason}`}`;

export const alerts: typeof en = {
  title: 'Alertas',
  subtitle: 'Alertas das suas tarefas.',
  empty: 'Nenhum alerta ainda. Execuções atrasadas, com falhas, lentas ou caras aparecem aqui.',
  emptyOfTask: 'Nenhum alerta desta tarefa.',
  noEarlier: 'Nenhum alerta anterior.',
  seeTasks: 'Ver tarefas',
  count: (alerts) => count(alerts, 'alerta', 'alertas'),
  only: (task, link) => parts`Só alertas de ${task}. ${link('Mostrar todos')}`,
  oneTask: 'uma tarefa',
  toChannel: (name) => `canal ${name}`,
  toWebhook: (host) => `webhook ${host}`,
  delivered: <P>(target: string, moment: P) => parts<P | string>`Enviado para ${target} ${moment}`,
  failed: <P>(strong: (text: string) => P, target: string, attempts: number, reason: string | null) =>
    parts<P | string>`${strong('Não entregue')} para ${target}${describeAttempts(attempts, reason)}`,
  held: (target) => `Retido por ${target}: horário de silêncio, intervalo mínimo ou resumo`,
  waiting: (target, attempts, reason) =>
    `Na fila para ${target}${attempts > 0 ? ', de novo' : ''}${describeAttempts(attempts, reason)}`,
  notDelivered: 'não entregue',
  acknowledge: 'Eu sei',
  acknowledged: 'conhecido',
  onlyThisTask: 'Só esta tarefa',
};
