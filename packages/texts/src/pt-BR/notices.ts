import type { notices as en } from '../en/notices.ts';
import { formats } from './formats.ts';

const { count, number } = formats;

const lastError = (error: string) => `Último erro: ${error}`;

export const notices: typeof en = {
  overdue: (task) => `A tarefa "${task}" está atrasada`,
  overdueText: (moment, minutes) =>
    `A execução planejada para ${moment} não terminou em ${count(minutes, 'minuto', 'minutos')}.`,
  failed: (task, failures) =>
    failures === 1 ? `A tarefa "${task}" falhou` : `A tarefa "${task}" falhou ${number(failures)} vezes seguidas`,
  notDone: (task, runs) => inRow(`A tarefa "${task}" não cumpriu seu objetivo`, runs),
  degraded: (task, runs) => inRow(`Um modelo reserva respondeu a tarefa "${task}"`, runs),
  lastError,
  lastRun: (reason) => `Última execução: ${reason}`,
  stopped: (task, failures) =>
    failures === 1
      ? `A tarefa "${task}" foi interrompida após 1 execução com falha`
      : `A tarefa "${task}" foi interrompida após ${number(failures)} execuções com falha`,
  stoppedText: (error) => `Ela só volta a ser executada quando você a retomar. ${lastError(error)}`,
  recovered: (task) => `A tarefa "${task}" voltou a funcionar`,
  recoveredText: (moment, byRun) =>
    `${byRun ? 'Uma execução foi concluída.' : 'As fontes podem ser lidas de novo.'} O primeiro alerta foi enviado em ${moment}.`,
  sourcesFailed: (task, sources) =>
    sources.length === 1
      ? `A fonte "${sources[0]}" da tarefa "${task}" não pode ser lida`
      : `As fontes da tarefa "${task}" não podem ser lidas`,
  expensive: (task, cost) => `Uma execução da tarefa "${task}" custou ${cost}`,
  slow: (task, duration) => `Uma execução da tarefa "${task}" levou ${duration}`,
  limit: (limit) => `O limite do alerta é ${limit}.`,
  undelivered: 'Um alerta não pôde ser entregue',
  undeliveredText: (alert, by, error) => {
    const way = by === 'webhook' ? 'pelo webhook' : by === 'mail' ? 'por e-mail' : `pelo canal "${by.channel}"`;
    return `"${alert}" não foi entregue ${way}. ${error === null ? 'Ele está desativado desde que falhou.' : lastError(error)}`;
  },

  overBudget: (task) => `A tarefa "${task}" atingiu seu orçamento mensal`,
  overBudgetText: (budget, moment) =>
    `O restante do orçamento de ${budget} não cobre outra execução. Ela pode voltar a ser executada a partir de ${moment}, ou quando você aumentar o orçamento.`,
  usage: (percent, resource) =>
    ({
      executions: `${percent} das suas execuções foram usadas`,
      tokens: `${percent} dos seus tokens foram usados`,
      storage: `${percent} do seu armazenamento foram usados`,
    })[resource],
  usageText: (used, limit, resource, percent) =>
    ({
      executions: `${used} das ${limit} execuções deste mês foram usadas (${percent}).`,
      tokens: `${used} dos ${limit} tokens deste mês foram usados (${percent}).`,
      storage: `${used} de ${limit} de armazenamento foram usados (${percent}).`,
    })[resource],
  trialEnded: 'O período de teste terminou',
  trialEndedText: (runs, tasks) =>
    `Suas tarefas não são mais executadas. Canceladas nas próximas 24 horas: ${describeRuns(runs, tasks)}.`,
  quotaUsed: (resource, period) =>
    `${resource === 'tokens' ? 'Os tokens' : 'As execuções'} ${period === 'month' ? 'deste mês' : 'de hoje'} acabaram`,
  quotaUsedText: (resource, limit, runs, tasks, moment) => {
    const used =
      resource === 'tokens'
        ? `Todos os ${number(limit)} tokens foram usados`
        : `Todas as ${number(limit)} execuções foram usadas`;
    const text = `${used}. Canceladas: ${describeRuns(runs, tasks)}.`;
    return moment === null ? text : `${text} As execuções voltam em ${moment}.`;
  },

  webhookFailed: (host, task) =>
    task === null ? `O webhook para ${host} falhou` : `O webhook da tarefa "${task}" para ${host} falhou`,
  channelFailed: (kind, name) => `O canal "${name}" (${kind}) falhou`,
  endpointFailedText: (error) =>
    `Nada mais é enviado por ele até que você o ligue de novo. Depois, você pode reenviar o que falhou. ${lastError(error)}`,
  unsubscribed: (channel) => `O e-mail do canal "${channel}" foi cancelado`,
  unsubscribedText: (address, isOwn) =>
    isOwn
      ? `Alguém usou o link de cancelamento em um e-mail para ${address}. Este canal não envia mais nada para lá até que você o ligue de novo.`
      : `Alguém usou o link de cancelamento em um e-mail para ${address}. Sua conta não envia mais nada para lá. Quando você ligar de novo um canal para ele, o endereço precisa confirmar primeiro.`,

  modelGone: (model) => `O modelo ${model} saiu da lista do provedor`,
  modelEnds: (model, date) => `O modelo ${model} termina em ${date}`,
  modelText: (provider, isGone) =>
    `Tarefas ativas o usam, e o provedor "${provider}" ${isGone ? 'não o lista mais' : 'anuncia o fim dele'}. Escolha outro modelo antes que ele pare de responder.`,

  schedulerSilent: 'O agendador está em silêncio',
  schedulerSilentText: (moment) =>
    `Sua última chamada foi em ${moment}. Os processos da API iniciam as execuções sozinhos, com até um minuto de atraso. Verifique se o agendador está em execução e se tem a API_URL e o CRON_SECRET da API.`,
  schedulerBack: 'O agendador voltou a chamar',
  schedulerBackText: (moment) => `Ele estava em silêncio desde ${moment}.`,

  backupOld: 'O último backup é antigo',
  backupOldText: (days) =>
    `Ele foi feito há ${days} dias. Execute "carillon backup" e verifique a tarefa que o executa regularmente.`,
};

function describeRuns(runs: number, tasks: number) {
  return `${count(runs, 'execução planejada', 'execuções planejadas')} de ${count(tasks, 'tarefa', 'tarefas')}`;
}

function inRow(event: string, runs: number) {
  return runs === 1 ? event : `${event} ${number(runs)} vezes seguidas`;
}
