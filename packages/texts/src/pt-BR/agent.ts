import type { agent as en } from '../en/agent.ts';
import { parts } from '../parts.ts';
import { formats } from './formats.ts';

export const agent: typeof en = {
  subtitle: 'Faça uma pergunta ou descreva uma tarefa para agendar.',
  hint: 'Cada mensagem é respondida sem as anteriores. O Carillon não guarda mensagens nem respostas: elas se perdem quando você sai desta página. Uma tarefa proposta fica guardada por um dia.',
  message: 'Mensagem',
  send: 'Enviar',
  stop: 'Parar',
  conversation: 'Conversa',
  turn: 'Mensagem e resposta',
  answer: 'Resposta',
  empty: 'A resposta aparece aqui. Alguns exemplos:',
  examples: [
    'Escreva um prompt que me conte toda manhã as novidades da minha área.',
    'Toda sexta às cinco da tarde, sugira três passeios para o fim de semana.',
    'Quais das minhas tarefas semanais um prompt agendado poderia fazer?',
    'Explique o que é uma expressão cron, com três exemplos.',
  ],
  writing: 'Esperando a resposta …',
  stopped: 'Interrompida.',
  incomplete: 'A resposta está incompleta.',
  noAnswer: 'Sem resposta. Envie a mensagem de novo.',
  tokens: (input, output) =>
    `${formats.count(input, 'token', 'tokens')} de entrada, ${formats.number(output)} de saída`,
  createTask: 'Criar tarefa',

  savedTask: 'Tarefa salva',
  proposedTask: 'Tarefa proposta',
  prompt: 'Prompt',
  details: 'Detalhes',
  description: 'Descrição',
  channels: 'Canais',
  email: 'E-mail',
  webhook: 'Webhook',
  model: 'Modelo',
  defaultModel: 'padrão deste servidor',
  nextRuns: 'Próximas execuções',
  firstRunPassed: 'A primeira execução já passou. Escolha outro horário.',
  deleted: 'Esta tarefa foi salva e excluída depois.',
  openTask: 'Abrir tarefa',
  saveTask: 'Salvar tarefa',
  editFirst: 'Editar antes',
  dismiss: 'Agora não',
  expires: (moment) => parts`Não foi salva. Esta proposta expira ${moment}.`,
};
