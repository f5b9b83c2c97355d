import type { admin as en } from '../en/admin.ts';
import { parts } from '../parts.ts';
import { formats } from './formats.ts';

const { count, number } = formats;

export const admin: typeof en = {
  title: 'Administração',
  sections: {
    overview: 'Visão geral',
    users: 'Usuários',
    coupons: 'Cupons',
    providers: 'Provedores de IA',
    apps: 'Aplicativos',
    settings: 'Configurações',
    audit: 'Auditoria',
  },

  healthy: 'Tudo funciona.',
  unhealthy: (troubles) => `${count(troubles, 'item precisa', 'itens precisam')} de atenção.`,
  needsAttention: 'Precisa de atenção',
  status: 'Estado',
  database: 'Banco de dados',
  databaseStates: { ok: 'Conectado', read_only: 'Somente leitura', failed: 'Não responde' },
  schema: 'Esquema',
  schemaStates: { ok: 'Atualizado', behind: 'Desatualizado', unknown: 'Desconhecido' },
  worker: 'Worker',
  workerStates: { ok: 'Funcionando', starting: 'Iniciando', stuck: 'Não responde', stopping: 'Parando' },
  on: 'Ativada',
  off: 'Desativada',
  databaseFailed: 'O banco de dados não está disponível.',
  schemaBehind: 'O esquema do banco é mais antigo que esta versão. Reinicie o serviço para migrá-lo.',
  workerStarting: 'O worker está iniciando. As execuções começam quando ele estiver pronto.',
  workerStuck: 'O worker não responde, e nenhuma execução começa. Reinicie este processo.',
  workerStopping: 'Este processo está parando. Outro começa as próximas execuções.',
  runOverdue: (time) =>
    `Uma execução está atrasada há ${time} e não começou. Verifique se o agendador está funcionando.`,
  schedulerSilent:
    'O agendador não chama há dois minutos. Verifique se ele está funcionando. Até lá, as execuções começam com até um minuto de atraso.',
  manyFailed: (failed, ended) =>
    `${number(failed)} de ${count(ended, 'execução', 'execuções')} falharam nas últimas 24 horas.`,
  failedBecause: (reason, runs, users) =>
    `${reason}: ${count(runs, 'execução', 'execuções')} de ${count(users, 'usuário', 'usuários')}.`,
  backupOld: (moment) => `O último backup foi feito ${moment}. Execute carillon backup.`,

  installation: 'Instalação',
  version: 'Versão',
  offlineModel: 'Nenhum. As respostas vêm do modelo offline embutido.',
  noProvider: 'Nenhum. As execuções falham até que um seja definido.',
  change: 'Mudar',
  mail: 'E-mail',
  mailInFiles: 'Gravado em arquivos em',
  setSmtp: (variable) => parts`Defina ${variable} para enviar e-mails.`,
  storage: 'Armazenamento de arquivos',
  storages: { base64: 'O banco de dados', disk: 'A pasta', s3: 'O bucket' },
  lastBackup: 'Último backup',
  noBackup: (command) => parts`Nenhum. Execute ${command}.`,

  checks: 'Verificações da instalação',
  checksText:
    'Segredos, partições, transações antigas, modelos, entregas em espera, servidor de e-mail e armazenamento.',
  findings: 'Verificações',
  checkNow: 'Verificar agora',
  checkAgain: 'Verificar de novo',
  checkServices: 'Verificar também e-mail e armazenamento',
  noProblems: 'Nenhum problema encontrado.',

  figures: 'Números',
  runsLastDay: 'Execuções, últimas 24 h',
  failedAndLive: (failed, live) => `${count(failed, 'falhou', 'falharam')}, ${number(live)} sem terminar`,
  completedLastDay: 'Concluídas, últimas 24 h',
  ofFinished: (runs) => `de ${count(runs, 'execução terminada', 'execuções terminadas')}`,
  activeTasks: 'Tarefas ativas',
  ofTasks: (tasks) => `de ${count(tasks, 'tarefa', 'tarefas')}`,
  activeUsers: 'Usuários ativos',
  ofUsers: (users, recent) => `de ${count(users, 'usuário', 'usuários')}, ${count(recent, 'novo', 'novos')} em 30 dias`,

  runCounts: (completed, failed, live) =>
    `${count(completed, 'concluída', 'concluídas')}, ${count(failed, 'falhou', 'falharam')}${live > 0 ? `, ${number(live)} sem terminar` : ''}`,
  labelled: (label, text) => `${label}: ${text}`,
  hour: (from, to, counts) => `${from} a ${to}: ${counts}`,
  lastDay: 'Execuções nas últimas 24 horas',
  byHour: 'por hora',
  upToPerHour: (runs) => `até ${number(runs)} por hora`,
  noRuns: 'nenhuma execução',
  now: 'agora',
  failedBelow: (counts) => `${counts}. As que falharam ficam abaixo da linha.`,
  lastMonth: 'Execuções nos últimos 30 dias',
  byDay: 'por dia (UTC)',
  upToPerDay: (runs) => `até ${number(runs)} por dia`,
  today: 'hoje',
  allTime: (counts, runs, rate) =>
    `${counts}. No total: ${count(runs, 'execução guardada', 'execuções guardadas')}, ${rate} das terminadas foram concluídas.`,

  queues: 'Filas',
  runs: 'Execuções',
  queuedRuns: (queued, running) => `${number(queued)} na fila, ${number(running)} em execução`,
  deliveries: 'Entregas',
  mails: 'E-mails',
  queued: (items) => `${number(items)} na fila`,
  oldestRun: 'Execução mais atrasada',
  noneLate: 'Nenhuma atrasada',
  dueFor: (time) => `Atrasada há ${time}`,
  topUsers: 'Mais execuções',
  topUsersPeriod: 'no total',
  noTopUsers: 'Nenhuma execução ainda. Aqui aparecem os usuários mais ativos.',
  topUsersCaption: 'Usuários com mais execuções',
  user: 'Usuário',

  confirm: 'Confirme que é você',
  confirmText: 'Mudanças de administração exigem entrada ou senha dos últimos 15 minutos.',
  confirmed: 'Confirmado. Você pode fazer mudanças por 15 minutos.',
  noPassword: 'Você entra com um provedor e não tem senha. Saia e entre de novo para fazer mudanças por 15 minutos.',
  notSaved: 'Nada foi salvo ainda. Confira os campos e salve.',

  maintenance: 'Manutenção',
  maintenanceHint: 'Fecha o serviço para todos, menos administradores.',
  onlyAdmins: 'Só administradores podem usar o serviço.',
  everyone: 'Todos podem usar o serviço.',
  changeMaintenance: 'Iniciar ou encerrar manutenção…',
  startMaintenance: 'Iniciar manutenção',
  startMaintenanceText:
    'Todos, menos administradores, recebem imediatamente “em manutenção” de todas as páginas e da API.',
  startMaintenanceHint: 'As execuções previstas continuam. Administradores ainda podem entrar e encerrar a manutenção.',
  endMaintenance: 'Encerrar manutenção',
  endMaintenanceText:
    'O serviço está fechado para todos, menos administradores. Encerrar a manutenção o abre imediatamente.',
  maintenanceOn: 'A manutenção está ativada. Só administradores podem usar o serviço.',
  maintenanceStarted: 'A manutenção está ativada.',
  maintenanceEnded: 'A manutenção está desativada.',

  settingsTitle: 'Configurações do sistema',
  settingsText: 'Para todo o serviço. As mudanças valem imediatamente.',
  trialDays: 'Teste de novas contas (dias)',
  trialDaysHint: 'As contas existentes mantêm o delas. 0 para nenhum teste.',
  maxTasks: 'Máx. de tarefas ativas por usuário',
  maxRuns: 'Máx. de execuções por usuário e dia (UTC)',
  planHint: 'Um plano pode permitir menos.',
  defaultModel: 'Modelo padrão',
  settingsSaved: 'As configurações do sistema foram salvas.',

  localTime: (timeZone) => `No fuso ${timeZone}.`,
  notATime: 'não é uma data com hora',
};
