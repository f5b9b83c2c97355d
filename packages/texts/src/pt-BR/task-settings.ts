import type { taskSettings as en } from '../en/task-settings.ts';
import { parts } from '../parts.ts';
import { formats } from './formats.ts';

const { count, list, money, duration } = formats;

export const taskSettings: typeof en = {
  runIf: 'Condição',
  onlyChanged: 'só se algo mudou',
  context: 'Contexto',
  clockAndAnswer: 'data, hora e última resposta',
  onlyAnswer: 'última resposta',
  onlyPrompt: 'só o prompt',
  toolNames: { web_search: 'busca', web_fetch: 'páginas' },
  tools: (names, uses) => `${list(names)}, até ${count(uses, 'uso', 'usos')} por execução`,
  required: 'obrigatórias',
  answerFormat: 'Formato da resposta',
  jsonSchema: 'esquema JSON',
  jsonWith: (names) => parts`JSON com ${names}`,
  jsonWithMore: <P>(names: P, more: number) => parts<P | string>`JSON com ${names} e mais ${formats.number(more)}`,
  onNews: 'só quando há novidade',
  onFailure: 'só quando uma execução falha',
  onChange: 'só quando a resposta muda',
  onChangeOf: (values) => parts`só em mudanças de ${values}`,
  overdue: (minutes) => `${formats.number(minutes)} min de atraso`,
  failures: (failures) => count(failures, 'falha seguida', 'falhas seguidas'),
  costAbove: (usd) => `custo acima de ${money(usd)}`,
  durationAbove: (ms) => `duração acima de ${duration(ms)}`,
  fallbackAnswers: (answers) =>
    count(answers, 'resposta seguida de um substituto', 'respostas seguidas de um substituto'),
  none: 'nenhum',
  missedSkipped: 'ignoradas',
  missedRun: 'executadas, até 10',
  overlapQueued: 'em fila',
  overlapStops: 'interrompem a anterior',
};
