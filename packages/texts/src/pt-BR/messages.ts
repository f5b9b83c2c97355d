import type { messages as en, ResultOutcome } from '../en/messages.ts';
import { parts } from '../parts.ts';
import { formats } from './formats.ts';

const { count, number } = formats;

const SUBJECTS: Record<ResultOutcome, string> = {
  completed: 'execução concluída',
  changed: 'a resposta mudou',
  not_done: 'execução não cumprida',
  failed: 'a execução falhou',
};

export const messages: typeof en = {
  levels: { success: 'Concluída', failure: 'Falhou', alert: 'Alerta', recovery: 'Recuperada', notice: 'Aviso' },
  digest: 'Resumo',
  answerChanged: 'Resposta alterada',
  untitled: 'Uma mensagem',
  untitledTask: 'Uma tarefa',
  allAnswers: 'todas as respostas',
  changed: (task) => `${task}: a resposta mudou`,
  failed: (task) => `${task}: a execução falhou`,
  notDone: (task) => `${task}: não cumprida`,
  digestTitle: (items) => count(items, 'mensagem', 'mensagens'),
  digestText: (items) => `As ${number(items)} mais importantes estão na lista.`,
  test: 'Funciona',
  testText: 'Esta é uma mensagem de teste do Carillon.',

  cutOff: 'Esta resposta está cortada: ela atingiu o tamanho máximo.',
  answer: 'A resposta',
  changes: 'O que mudou',
  sources: 'Fontes',
  wholeAnswer: 'a resposta inteira',
  moreChanges: 'Há outras mudanças.',
  value: 'Valor',
  before: 'Antes',
  after: 'Depois',
  missing: 'ausente',
  empty: '(vazio)',
  continues: 'continua no Carillon',
  open: 'Abrir no Carillon',
  openItem: 'abrir',
  allRuns: 'Todas as execuções no Carillon',
  contents: 'Neste e-mail',
  andMore: (items) => `E mais ${number(items)}.`,
  others: 'As outras estão só no Carillon.',
  footer: <P>(account: P, channel: string) =>
    parts<P | string>`A conta ${account} do Carillon envia isto para você pelo canal “${channel}”.`,
  unsubscribe: 'Cancelar inscrição',

  resultSubject: (task, outcome) => `Tarefa "${task}": ${SUBJECTS[outcome]}`,
  resultText: (task, outcome) =>
    outcome === 'not_done'
      ? `Uma execução da tarefa "${task}" não cumpriu seu objetivo.`
      : `Uma execução da tarefa "${task}" ${outcome === 'failed' ? 'falhou' : 'foi concluída'}.`,
  resultNotDone: (reason) => `Não cumprida: ${reason}`,
  resultDiffers: (changes) => `A resposta é diferente da anterior:\n\n${changes}\n\nA resposta:\n\n`,
  resultIsLonger: '(Este é o começo. A resposta inteira está na página da execução.)',
  run: (url) => `A execução: ${url}`,
  resultFooter: (account) =>
    `Você recebe este e-mail porque a conta ${account} do Carillon envia as respostas desta tarefa para este endereço.`,
};
