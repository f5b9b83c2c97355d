import type { deliveries as en } from '../en/deliveries.ts';
import { formats } from './formats.ts';

const { count, number } = formats;

export const deliveries: typeof en = {
  status: 'Status',
  on: 'Ativo',
  off: 'Desativado',
  offFailed: 'Desativado por falha',
  delivered: 'Entregue',
  deliveredLate: 'Entregue com atraso',
  failed: 'Falhou',
  sending: 'Enviando',
  waiting: 'Na fila',
  held: 'Retida',
  digested: 'Em um resumo',
  latest: (total, counts) =>
    `${total === 1 ? 'Última' : 'Últimas'} ${count(total, 'entrega', 'entregas')}: ${counts.join(', ')}`,
  countDelivered: (value) => count(value, 'entregue', 'entregues'),
  countLate: (value) => count(value, 'entregue com atraso', 'entregues com atraso'),
  countFailed: (value) => count(value, 'falhou', 'falharam'),
  countPending: (value) => count(value, 'pendente', 'pendentes'),
  nothingSent: 'nada enviado ainda',

  response: 'Retorno',
  answered: (status, duration) => `Respondeu ${number(status)} em ${duration}`,
  accepted: (duration) => `Aceita em ${duration}`,
  noResponse: (duration) => `Sem retorno em ${duration}`,
  earlierAttempts: (attempts) => count(attempts, 'tentativa anterior', 'tentativas anteriores'),
  nextAttempt: (moment) => `próxima tentativa ${moment}`,
  lastAttempt: (moment, error) => `Última tentativa ${moment}: ${error}`,
  logDeleted: 'O registro das tentativas foi excluído.',

  switchOn: 'Ativar',
  switchOff: 'Desativar',
  switchedOff: 'O Carillon o desativou.',
  fix: 'Para corrigir:',
  sendTest: 'Enviar teste',
  sendNow: 'Enviar agora',
  sendAgain: 'Enviar de novo',
  testDelivered: (status, duration) =>
    status === null
      ? `Teste entregue em ${duration}.`
      : `Teste entregue: o receptor respondeu ${number(status)} em ${duration}.`,
  testFailed: (error) => `Teste não entregue. ${error}`,

  details: 'Detalhes',
  description: 'Descrição',
  created: 'Criado',
  switchOffInstead: 'Para parar por um tempo, desligue em vez de excluir.',
  savedVersion: 'Versão salva',
  savedVersionHint: 'Salvar a substitui pelas suas mudanças.',
};
