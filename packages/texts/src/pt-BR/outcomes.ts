import type { outcomes as en } from '../en/outcomes.ts';
import { formats } from './formats.ts';

export const outcomes: typeof en = {
  ran: 'Concluída',
  changed: 'Mudou',
  late: 'Atrasada',
  running: 'Em andamento',
  waiting: 'Aguardando',
  waitingToRetry: 'Aguardando nova tentativa',
  failed: 'Falhou',
  missed: 'Perdida',
  skipped: 'Pulada',
  skippedByUser: 'Pulada por você',
  overQuota: 'Acima da cota',
  overBudget: 'Acima do orçamento',
  cancelled: 'Interrompida',
  unchanged: 'Sem mudança',

  signs: {
    ran: 'no horário',
    changed: 'com mudança',
    late: 'com atraso',
    running: 'em andamento',
    waiting: 'aguardando',
    paused: 'em pausa',
    skipped: 'pulada por sobreposição',
    'skipped-by-user': 'pulada por você',
    failed: 'com falha',
    missed: 'perdida',
    quota: 'acima da cota',
    cancelled: 'interrompida',
    unchanged: 'sem mudança',
  },
  noPlannedRun: 'Nenhuma execução planejada ainda',
  strip: (runs, counts) =>
    `${runs === 1 ? 'Última execução planejada' : `Últimas ${formats.number(runs)} execuções planejadas`}: ${counts}`,
  key: 'Legenda da faixa',

  startedBy: {
    schedule: 'agendamento',
    manual: 'você',
    inbound: 'webhook de entrada',
    retry: 'nova tentativa após falha',
    backfill: 'você, por uma execução perdida',
  },
  attempt: (attempt) => `tentativa ${formats.number(attempt)}`,
};
