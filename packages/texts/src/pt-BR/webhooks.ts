import type { webhooks as en } from '../en/webhooks.ts';
import { parts } from '../parts.ts';
import { formats } from './formats.ts';

const { count, number } = formats;

export const webhooks: typeof en = {
  title: 'Webhooks',
  subtitle: 'URLs que o Carillon chama quando algo acontece.',
  new: 'Novo webhook',
  newSubtitle: 'Avisa um programa quando algo acontece.',
  empty: 'Nenhum webhook ainda. Eles avisam seus programas sobre execuções e tarefas.',
  create: 'Criar webhook',
  caption: 'Webhooks, mais recentes primeiro',
  webhook: 'Webhook',
  latest: 'Últimas 30 entregas',
  last: 'Última entrega',
  events: 'Eventos',
  ofTask: (task) => parts`Tarefa ${task}`,
  ofSettings: (link) => parts`Suas ${link('configurações')}`,

  url: 'URL',
  urlHint: 'Recebe JSON assinado por POST. Deve usar https e ser acessível pela internet.',
  descriptionHint: 'Opcional. Por exemplo: publica em #loja.',
  tickOne: 'Selecione pelo menos um evento',
  edit: 'Editar webhook',
  save: 'Salvar webhook',
  saved: 'O webhook foi salvo.',
  conflict: 'Este webhook mudou depois que você abriu o formulário. Nada foi salvo ainda.',
  noDescription: 'nenhuma',
  managedByTask: 'Este webhook pertence a uma tarefa: a URL é alterada lá, e os eventos são fixos.',
  managedBySettings: 'Este webhook pertence às suas configurações: a URL é alterada lá, e os eventos são fixos.',
  editTask: 'Editar tarefa',
  openSettings: 'Abrir configurações',

  created: 'Webhook criado',
  createdSubtitle: 'Está ativo. Falta um passo: passe o segredo ao receptor.',
  createdAlready: 'Já foi criado',
  createdAlreadyText:
    'Este formulário já foi enviado, então o webhook existe. O segredo não é mostrado de novo. Se você não o copiou, troque-o.',
  open: 'Abrir webhook',
  secret: 'Segredo',
  secretOnce: 'O segredo é mostrado só uma vez.',
  secretCopy: 'Copie agora. Depois só é possível trocá-lo.',
  nextSteps: 'Próximos passos',
  storeSecret: 'Passe-o ao receptor como configuração ou variável de ambiente, não no código.',
  checkHeaders: (code, link) =>
    parts`Verifique ${code('webhook-id')}, ${code('webhook-timestamp')} e ${code('webhook-signature')} do ${link('Standard Webhooks')} em cada requisição, sobre o corpo original. Há bibliotecas para a maioria das linguagens, por exemplo:`,
  example: 'Exemplo em JavaScript',
  testIt: 'Envie um teste na página do webhook.',
  previousSecret:
    'Por 24 horas, as requisições também são assinadas com o segredo anterior, para nada se perder enquanto você muda o receptor.',
  inbound: 'Executar tarefas de fora',
  inboundText: (code) =>
    parts`Um programa com o segredo pode executar suas tarefas com um ${code('POST')} assinado de ${code('{"taskId": 1}')} para esta URL, que contém o segredo.`,

  rotateTitle: 'Trocar o segredo?',
  rotateText: (code) =>
    parts`Você recebe um novo segredo, mostrado só uma vez. Por 24 horas, ${code('webhook-signature')} é assinado com os dois segredos. Receptores que verificam ${code('X-Webhook-Signature')} precisam do novo na hora.`,
  rotateInbound: 'A URL que executa tarefas de fora muda na hora, porque contém o segredo.',
  rotate: 'Trocar segredo',
  rotateLink: 'Trocar segredo…',
  rotated: 'Novo segredo',
  rotatedSubtitle: (host) => `Do webhook para ${host}`,
  rotatedAlready: 'Já foi trocado',
  rotatedAlreadyText:
    'O segredo foi trocado depois que você abriu o formulário, talvez porque ele foi enviado duas vezes. O novo não é mostrado de novo. Se você não o copiou, troque-o outra vez.',
  rotateAgain: 'Trocar de novo…',

  titleTo: (host) => `Webhook para ${host}`,
  offTitle: 'O webhook está desativado',
  offText: 'Você ou um programa com sua chave o desativou. Os eventos não entram na fila enquanto ele está desativado.',
  waiting: (deliveries, isMore) =>
    deliveries === 1
      ? '1 entrega anterior é enviada quando você o ligar.'
      : `${number(deliveries)}${isMore ? ' ou mais' : ''} entregas anteriores são enviadas quando você o ligar.`,
  failedTitle: 'O webhook está desativado: todas as tentativas de uma entrega falharam',
  fix: (link) =>
    parts`Corrija o receptor, envie um teste e depois ligue o webhook. As entregas que falharam podem ser ${link('enviadas de novo')} em seguida.`,
  failed: (deliveries, isMore) =>
    `${number(deliveries)}${isMore ? ' ou mais' : ''} ${deliveries === 1 ? 'entrega falhou' : 'entregas falharam'}`,
  switchedOff: 'O webhook está desativado. Os eventos não entram na fila enquanto ele está desativado.',
  switchedOn:
    'O webhook está ativo. As entregas na fila são enviadas agora; as que falharam podem ser enviadas de novo.',
  belongsTo: 'Pertence a',
  secretUntil: (moment) => `O anterior também assina até ${moment}`,
  sendFailed: 'Enviar de novo as entregas que falharam…',

  deliveries: 'Entregas',
  deliveriesCaption: 'Entregas, mais recentes primeiro',
  event: 'Evento',
  noDeliveries: 'Nenhuma entrega ainda. Envie um teste para ver uma.',
  delivery: (event, moment) => `${event}, ${moment}`,
  waitsForSwitch: 'será enviada quando o webhook for ativado',
  attempts: 'Tentativas',
  attempt: (attempt, response) => `Tentativa ${number(attempt)}: ${response}`,
  notSent: 'Ainda não enviada.',
  nextAttempt: (moment) => `Próxima tentativa ${moment}.`,
  sameInEach: 'o mesmo em cada tentativa',
  request: 'ID da requisição',
  body: 'Corpo',
  bodyCut: (shown, total) => `Os primeiros ${number(shown)} de ${number(total)} caracteres.`,
  bodyWhole: (total) =>
    `${count(total, 'caractere', 'caracteres')} de JSON. As quebras de linha são só daqui; cada tentativa envia os mesmos bytes.`,
  resent: 'Está sendo enviada de novo, com o mesmo corpo.',

  resendTitle: 'Enviar de novo as entregas que falharam',
  resendOff: 'O webhook está desativado. Ative-o primeiro.',
  resendText: (code) =>
    parts`Cada entrega que falhou é enviada mais uma vez, com o mesmo corpo e o mesmo ${code('webhook-id')}. Por padrão, as entregas que falharam são guardadas por 30 dias.`,
  failedSince: 'Falharam desde',
  failedSinceHint: (timeZone) => `A partir do início deste dia em ${timeZone}.`,
  resend: 'Enviar de novo',
  noneFailed: 'Nenhuma entrega falhou desde então.',
  resending: (deliveries) => `${count(deliveries, 'entrega é enviada', 'entregas são enviadas')} de novo.`,

  deleteTitle: 'Excluir este webhook?',
  deleteText: (host) =>
    parts`Nada mais é enviado para ${host}. As entregas na fila e o registro são excluídos. A URL que executa tarefas de fora deixa de funcionar. Não é possível desfazer.`,
  delete: 'Excluir webhook',
  deleted: 'O webhook foi excluído.',
};
