import type { tasks as en } from '../en/tasks.ts';
import { parts } from '../parts.ts';
import { formats } from './formats.ts';

const { count, number } = formats;

const one = { started: 'iniciada', paused: 'pausada', resumed: 'retomada', deleted: 'excluída' };
const past = (tasks: number, change: keyof typeof one) => (tasks === 1 ? one[change] : `${one[change]}s`);

export const tasks: typeof en = {
  title: 'Tarefas',
  newTask: 'Nova tarefa',
  empty: 'Nenhuma tarefa ainda. Uma tarefa executa seu prompt em um agendamento.',
  createFirst: 'Criar sua primeira tarefa',

  search: 'Buscar por nome',
  status: 'Situação',
  statuses: {
    all: 'Todas',
    attention: 'Precisa de atenção',
    active: 'Ativas',
    paused: 'Pausadas',
    failed: 'Com falha',
    completed: 'Terminadas',
  },
  sortBy: 'Ordenar por',
  sorts: { next: 'Próxima execução', name: 'Nome', newest: 'Mais recentes' },
  searchContinues: 'Só parte das suas tarefas foi pesquisada. A busca continua na próxima página.',
  total: (tasks) => count(tasks, 'tarefa', 'tarefas'),
  selectedTasks: 'Tarefas selecionadas',
  selectHint: (selectAll) => parts`Selecione tarefas para executar, pausar ou excluir, ou ${selectAll}.`,
  selectAll: 'selecione todas desta página',
  selected: 'Selecionadas:',
  run: 'Executar agora',
  pause: 'Pausar',
  resume: 'Retomar',
  orders: { next: 'Tarefas por próxima execução', name: 'Tarefas por nome', newest: 'Tarefas mais recentes primeiro' },
  select: 'Selecionar',
  selectTask: (name) => `Selecionar ${name}`,
  task: 'Tarefa',
  lastPlanned: (key) => parts`Últimas 30 execuções planejadas, ${key}`,
  key: 'legenda',
  last: 'Última',
  next: 'Próxima',
  days30: '30 dias',
  days30Short: '30 d',
  over: (cost) => `mais de ${cost}`,
  notRun: 'Ainda não executada',
  paused: 'Pausada',
  done: 'Terminada',
  stopped: 'Interrompida',
  none: 'Nenhuma',
  noMatch: 'Nenhuma tarefa corresponde à busca.',
  noMatchSoFar: 'Nada encontrado até agora.',
  noMore: 'Não há mais tarefas.',
  showAll: 'Mostrar todas as tarefas',

  noneSelected: 'Nenhuma tarefa selecionada.',
  changedOne: (change) => `A tarefa foi ${one[change]}.`,
  refusedOne: (change, reason) => `A tarefa não foi ${one[change]}: ${reason}`,
  changed: (tasks, change) => `${count(tasks, 'tarefa', 'tarefas')} ${past(tasks, change)}.`,
  refused: (done, refused, change, reasons) =>
    done > 0
      ? `${count(done, 'tarefa', 'tarefas')} ${past(done, change)}, ${count(refused, 'recusada', 'recusadas')}: ${reasons}`
      : `${count(refused, 'tarefa não', 'tarefas não')} ${past(refused, change)}: ${reasons}`,

  deleteTask: (name) => `Excluir ${name}`,
  deleteTasks: (tasks) => `Excluir ${count(tasks, 'tarefa', 'tarefas')}`,
  deleteText: (tasks) =>
    tasks === 1
      ? 'Exclui esta tarefa com todas as execuções e respostas:'
      : 'Exclui estas tarefas com todas as execuções e respostas:',
  runs: (runs) => count(runs, 'execução', 'execuções'),
  deleteRunning:
    'Uma execução em andamento é interrompida: a resposta é descartada, os tokens ainda são cobrados. Não dá para desfazer.',
  deleteOne: 'Excluir tarefa',

  runMissed: 'Executar as perdidas',
  runMissedText:
    'Executa agora cada execução perdida ou pulada do período, uma após a outra, até 100. Execuções concluídas não se repetem.',
  missedFrom: (zone) => `De, horário de ${zone}`,
  missedTo: (zone) => `Até, horário de ${zone}`,
  dateMissing: 'Informe data e hora',
  noneMissing: 'Não falta nenhuma execução nesse período.',
  missedQueued: (runs) => `${count(runs, 'execução perdida está', 'execuções perdidas estão')} na fila.`,

  pauseAll: 'Pausar todas…',
  pauseAllHint: 'Nenhuma tarefa é executada até lá.',
  pauseAllThen: 'Pausar todas as tarefas',
  arePaused: (tasks, moment) => `${count(tasks, 'tarefa está pausada', 'tarefas estão pausadas')} até ${moment}.`,

  pauseUntil: 'Pausar até…',
  resumeNow: 'Retomar agora',
  untilLabel: (zone) => `Até, horário de ${zone}`,
  pauseUntilThen: 'Pausar até lá',
  notInFuture: 'Informe um momento no futuro',
  resumed: 'A tarefa foi retomada.',
  pausedUntil: (moment) => `A tarefa está pausada até ${moment}.`,
  pausedUntilIn: (moment, distance) => `Pausada até ${moment}, ${distance}.`,
  skipped: (moment) => `A execução de ${moment} foi pulada.`,
  notSkipped: (reason) => `Nada foi pulado. ${reason}`,
  noSuchRun: 'A tarefa não tem essa execução.',

  nextRunAt: (moment, distance) => `Próxima execução ${moment}, ${distance}.`,
  isPaused: 'Pausada. Ela volta a executar quando você a retomar.',
  isDone: 'Terminada. Ela não executa mais.',
  isCancelled: 'Interrompida por você. Ela não volta a executar sozinha.',
  isStopped: 'Interrompida após falhas. Ela volta a executar quando você a retomar.',
  noNextRun: 'Nenhuma execução planejada.',
  stopRun: 'Interromper execução',
  more: 'Mais',
  wholePrompt: 'Prompt inteiro',
  duplicate: 'Duplicar',
  lastFailed: 'A última execução falhou.',
  isRetried: 'O Carillon tenta de novo.',
  nextComes: 'A próxima execução começa como planejado.',
  seeWhy: 'Ver motivo',
  feed: 'Feed',

  plannedRuns: 'Execuções planejadas',
  noPlannedRuns: 'Cada execução planejada aparece aqui como uma marca.',
  lastPlannedRuns: (runs) =>
    runs === 1 ? 'Última execução planejada' : `Últimas ${number(runs)} execuções planejadas`,
  lateBy: (duration) => `, ${duration}`,
  saved: (runs, cost) =>
    `${count(runs, 'execução omitida', 'execuções omitidas')} neste mês porque nenhuma fonte mudou${cost === null ? '' : `: cerca de ${cost} economizados`}.`,

  nextRun: 'Próxima execução',
  nextRuns: 'Próximas execuções',
  exceptions: 'Exceções',
  skipNext: 'Pular a próxima execução',
  timeIn: (time, zone) => `${time} em ${zone}`,

  runsTitle: 'Execuções',
  allRuns: (runs) => (runs === 1 ? 'Ver 1 execução' : `Todas as ${number(runs)} execuções`),
  lastRuns: 'Últimas execuções',
  runHead: 'Execução',
  startedBy: {
    schedule: 'como planejado',
    manual: 'iniciada por você',
    inbound: 'por webhook',
    retry: 'nova tentativa',
    backfill: 'execução perdida',
  },

  lastAnswer: 'Última resposta',
  wholeRun: 'Ver execução',
  readWhole: 'Ler a resposta inteira',
  noneAnswered: 'Nenhuma das últimas execuções tem resposta. As execuções abaixo dizem por quê.',
  noAnswer: 'Nenhuma resposta ainda. Execute a tarefa agora para ver uma.',

  costAndTime: 'Custo e duração',
  costIn30Days: (cost) => `${cost} em 30 dias`,
  measures: { cost: 'Custo', time: 'Duração' },
  measureOf: (measure, runs, range) =>
    `${measure} ${runs === 1 ? 'da última execução' : `das últimas ${number(runs)} execuções`}: ${range}.`,
  range: (from, to) => `${from} a ${to}`,
  scale: (measure, top) => `${measure}, até ${top}`,

  settings: 'Configurações',
  tokens: (tokens) => count(tokens, 'token', 'tokens'),
  webhook: 'Webhook',
  mailTo: 'E-mail para',
  created: 'Criada',
};
