import type { home as en } from '../en/home.ts';
import { parts } from '../parts.ts';
import { formats } from './formats.ts';

const { count } = formats;

type Quota = Parameters<typeof en.quotaUsed>[0];

const describeQuota = ({ resource, limit }: Quota) =>
  resource === 'executions' ? count(limit, 'execução', 'execuções') : count(limit, 'token', 'tokens');

const describeSkipped = (runs: number, tasks: number) =>
  `${count(runs, 'execução', 'execuções')} de ${count(tasks, 'tarefa', 'tarefas')} ${runs === 1 ? 'é pulada' : 'são puladas'}`;

const describeLoss = ({ runs, tasks }: Quota) => (runs > 0 ? `: ${describeSkipped(runs, tasks)}` : '');

export const home: typeof en = {
  title: 'Início',
  newTask: 'Nova tarefa',
  planned: (runs) => `${count(runs, 'execução', 'execuções')} nas próximas 24 horas`,
  nothingPlanned: 'Nenhuma execução planejada',
  nextDay: 'Próximas 24 horas',
  allTasks: 'Todas as tarefas',
  slot: (runs, refused) =>
    refused > 0
      ? `${count(runs, 'execução', 'execuções')}, ${count(refused, 'pulada', 'puladas')}`
      : count(runs, 'execução', 'execuções'),
  refused: (runs) => count(runs, 'pulada', 'puladas'),
  chart: (runs, most, refused) => {
    const text = `Execuções planejadas por meia hora: ${formats.number(runs)} em 24 horas, até ${formats.number(most)} em meia hora.`;
    return refused > 0 ? `${text} Puladas: ${formats.number(refused)}.` : text;
  },
  refusals: {
    executions: 'acima da cota',
    tokens: 'acima da cota',
    trial: 'teste encerrado',
    budget: 'acima do orçamento',
  },
  now: 'agora',
  upNext: 'A seguir',
  noUpcoming: 'Nenhuma execução nas próximas 24 horas.',
  answers: 'Últimas respostas',
  new: 'nova',
  changed: 'mudou',
  same: 'igual',
  noAnswers: 'Nenhuma resposta nas últimas 24 horas.',
  allRuns: 'Todas as execuções',
  firstTask: 'Sua primeira tarefa',
  firstTaskText: 'Escreva um prompt. O Carillon o executa na sua agenda e guarda aqui todas as respostas.',

  attention: 'Precisa de atenção',
  noAttention: 'Nada precisa de atenção',
  acknowledge: 'Estou ciente',
  acknowledged: 'Volta à lista quando mudar.',
  notAcknowledged: 'Mudou nesse meio-tempo e continua na lista.',
  outage: (from, until, missed, late) => {
    const texts = [
      ...(missed > 0 ? [count(missed, 'execução perdida', 'execuções perdidas')] : []),
      ...(late > 0 ? [count(late, 'execução atrasada', 'execuções atrasadas')] : []),
    ];
    return `O Carillon ficou fora do ar de ${from} até ${until}: ${formats.list(texts)}.`;
  },
  seeMissed: 'Ver execuções perdidas',
  seeLate: 'Ver execuções atrasadas',
  items: (items) => count(items, 'item', 'itens'),
  andMore: (more) => `e mais ${formats.number(more)}`,
  seeUsage: 'Ver uso',
  seeAlerts: 'Ver alertas',
  seeTask: 'Ver tarefa',
  seeWhy: 'Ver motivo',
  seeSkipped: 'Ver execuções puladas',
  seeDeliveries: 'Ver entregas',
  seeAddresses: 'Ver endereços',
  changeBudget: 'Mudar orçamento',
  trialEnded: (runs, tasks) =>
    `O período de teste terminou${runs > 0 ? `: ${describeSkipped(runs, tasks)} nas próximas 24 horas` : ''}.`,
  trialEnds: (moment, runs, tasks) =>
    `O período de teste termina ${moment}${runs > 0 ? `: ${describeSkipped(runs, tasks)} nas próximas 24 horas` : ''}.`,
  quotaUsed: (quota, until) =>
    `A cota ${quota.period === 'day' ? 'de hoje' : 'do mês'}, ${describeQuota(quota)}, acabou${describeLoss(quota)}. As execuções voltam ${until}.`,
  quotaEnds: (quota, from, until) =>
    `A cota ${quota.period === 'day' ? 'do dia' : 'do mês'}, ${describeQuota(quota)}, acaba ${from}${describeLoss(quota)}. As execuções voltam ${until}.`,
  overdue: (task, moment) => parts`${task}: a execução prevista ${moment} não terminou.`,
  failed: <P>(task: P, failures: number, moment: P | null) => {
    const event = failures === 1 ? 'falhou' : `falhou ${formats.number(failures)} vezes seguidas`;
    return moment === null
      ? parts<P | string>`${task} ${event}.`
      : parts<P | string>`${task} ${event}, a última vez ${moment}.`;
  },
  stopped: <P>(task: P, failures: number, moment: P | null) => {
    const event = `foi parada após ${count(failures, 'falha', 'falhas')}`;
    return moment === null
      ? parts<P | string>`${task} ${event}.`
      : parts<P | string>`${task} ${event}, a última ${moment}.`;
  },
  failedTogether: <P>(first: P, second: P, others: number, isStopped: boolean) => {
    const event = isStopped ? 'foram paradas após falhas' : 'falharam';
    return others > 0
      ? parts<P | string>`${first}, ${second} e ${count(others, 'outra tarefa', 'outras tarefas')} ${event}.`
      : parts<P | string>`${first} e ${second} ${event}.`;
  },
  budgetTooSmall: <P>(task: P, budget: string) =>
    parts<P | string>`${task}: o orçamento mensal de ${budget} não cobre uma execução.`,
  budgetUsed: <P>(task: P, budget: string, date: string) =>
    parts<P | string>`${task}: o orçamento mensal de ${budget} acabou. As execuções voltam ${date}.`,
  budgetAlmostUsed: <P>(task: P, budget: string, date: string) =>
    parts<
      P | string
    >`${task}: o resto do orçamento mensal de ${budget} não cobre uma execução. As execuções voltam ${date}.`,
  webhookOff: (webhook) => parts`O webhook ${webhook} está desativado: cinco tentativas seguidas falharam.`,
  channelOff: <P>(channel: P, target: string) =>
    parts<P | string>`O canal ${channel} está desativado: ${target} recusou uma mensagem.`,
  unconfirmed: (address) => parts`${address} não está confirmado. Abra o link da mensagem enviada para lá.`,

  monthSoFar: (month) => `${month} até agora`,
  usage: 'Uso',
  cost: 'Custo',
  projected: (cost) => `neste ritmo ${cost}`,
  runsTitle: 'Execuções',
  runsToday: 'Execuções hoje',
  tokens: 'Tokens',
  tokensToday: 'Tokens hoje',
  ofLimit: (limit) => `de ${limit}`,
  ofDailyLimit: (limit) => `de ${limit}, zera à meia-noite UTC`,
  costByDay: 'Custo por dia (UTC)',
  costChart: (month, most) => `Custo por dia em ${month.toLowerCase()}: até ${most} por dia.`,
  dayCost: (day, cost) => `${day}: ${cost}`,
  upTo: (cost) => `até ${cost}`,
  noCost: 'sem custo',
};
