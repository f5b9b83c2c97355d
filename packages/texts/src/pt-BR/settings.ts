import type { settings as en } from '../en/settings.ts';
import { parts } from '../parts.ts';
import { formats } from './formats.ts';

export const settings: typeof en = {
  title: 'Configurações',
  subtitle: 'Sua conta e este navegador.',
  sections: {
    profile: 'Perfil',
    notifications: 'Notificações',
    security: 'Segurança',
    aiKey: 'Chave de IA',
    keys: 'Chaves de API',
    secrets: 'Segredos',
    apps: 'Aplicativos conectados',
    data: 'Dados',
  },

  profile: 'Perfil',
  profileHint: 'Os horários aparecem no seu fuso, e as novas tarefas o usam.',
  profileSaved: 'Seu perfil foi salvo.',

  language: 'Idioma',
  languageHint: 'De páginas, e-mails, mensagens, alertas e notificações.',

  theme: 'Tema',
  themeHint: 'Só neste navegador.',
  themes: { system: 'Do sistema', light: 'Claro', dark: 'Escuro' },

  notifications: 'Notificações',
  notificationsHint: 'De execuções terminadas e alertas de uso. A página Notificações lista todas.',
  byEmail: (email) => `Por e-mail para ${email}`,
  moreEmails: 'Outros e-mails',
  moreEmailsHint: 'Um por linha, até 10. Cada endereço precisa confirmar primeiro.',
  unconfirmedEmails: (emails) =>
    `Ainda não confirmados: ${emails}. Salve para enviar um novo link quando o último tiver uma hora.`,
  byWebhook: 'Por webhook',
  webhookUrl: 'URL do webhook',
  webhookHint: 'Deixe em branco para nenhum.',
  webhookLink: 'Segredo e entregas',
  byChannel: 'Por canal',
  channelsHint: (link) => parts`Para mensagens da conta. Cada tarefa tem canais separados. ${link('Gerenciar canais')}`,
  channelMissing: 'Um destes canais não existe mais. Escolha de novo',
  notificationsSaved: 'Suas notificações foram salvas.',

  aiKey: 'Chave do provedor de IA',
  aiKeyHint:
    'Com a sua chave, as tarefas usam sua conta no provedor. A chave é guardada criptografada e nunca aparece.',
  ownKey: 'Suas tarefas usam a sua chave.',
  sharedKey: 'Suas tarefas usam a chave deste servidor.',
  key: 'Chave',
  newKey: 'Nova chave',
  saveKey: 'Salvar chave',
  removeKey: 'Remover chave',
  keyRequired: 'é obrigatória',
  aiKeySaved: 'Sua chave do provedor de IA foi atualizada. As novas execuções a usam.',
  aiKeyRemoved: 'Sua chave do provedor de IA foi removida. As novas execuções usam a chave deste servidor.',

  email: 'E-mail',
  emailHint: 'Você entra com ele. Um novo e-mail vale depois que você abre o link enviado para lá.',
  emailPending: (email) => parts`Abra em até uma hora o link enviado para ${email} para mudar seu e-mail.`,
  cancelEmailChange: 'Cancelar mudança',
  currentEmail: 'E-mail atual',
  newEmail: 'Novo e-mail',
  approveEmailFirst: 'Seu e-mail atual recebe primeiro um link para aprovar a mudança.',
  changeEmail: 'Mudar e-mail',
  emailSaved: 'Seu pedido foi salvo. Se o e-mail mudar, procure o link na sua caixa de entrada.',

  passwordHint: 'Uma nova senha encerra todas as outras sessões. As chaves de API continuam valendo.',
  noPassword: 'Você entra com um provedor e não tem senha. Podemos enviar um link por e-mail para criar uma.',
  currentPassword: 'Senha atual',
  passwordSaved: 'Sua senha foi mudada, e todas as outras sessões foram encerradas.',
  passwordLinkSent: 'Enviamos um link para criar uma senha.',

  coupon: 'Cupom',
  couponHint: 'Um código prolonga seu período de teste.',
  trial: 'Período de teste',
  trialWithoutEnd: 'Sem data de término',
  trialEnds: (moment) => parts`Termina ${moment}`,
  trialEnded: (moment) => parts`Terminou ${moment}`,
  code: 'Código',
  useCoupon: 'Usar cupom',
  couponUsed: 'Cupom usado. Seu período de teste foi prolongado.',

  feed: 'Feed',
  feedHint: 'As respostas de todas as tarefas em um feed Atom. A página de cada tarefa oferece o dela.',

  inbound: 'URL de entrada',
  inboundHint: 'Outros sistemas iniciam suas tarefas com um POST assinado.',
  inboundSecret: (link) =>
    parts`Troque SECRET pelo segredo de um dos ${link('seus webhooks')}, que também assina a requisição. Cada webhook tem uma URL diferente.`,

  export: 'Exportação',
  exportHint: 'Seus dados no Carillon em um arquivo.',
  exportTitle: 'Exportar conta',
  exportText:
    'Um arquivo JSON com seu perfil, configurações, tarefas, tarefas propostas, execuções e respostas, alertas, notificações e uso, e os nomes dos seus arquivos, webhooks e chaves.',
  exportLimits: (link) =>
    parts`O arquivo não contém segredos nem o conteúdo dos seus ${link('arquivos')}. Com muitas execuções, demora um pouco.`,

  deletion: 'Excluir conta',
  deletionHint: 'Para sempre, com tarefas, execuções, arquivos e chaves.',
  deletionText: 'Exclui para sempre suas tarefas, execuções, arquivos, webhooks e chaves.',
  confirmDeletion: (email) => `Digite ${email} para confirmar`,
  wrongEmail: 'não é o e-mail desta conta',
  oldSession: 'Esta sessão tem mais de 15 minutos. Saia, entre com seu provedor e então exclua a conta.',
  accountDeleted: 'Sua conta e todos os seus dados foram excluídos.',

  sessions: 'Sessões',
  sessionsText: 'Navegadores e programas que estão na sua conta.',
  sessionsCaption: 'Suas sessões, da usada por último à mais antiga',
  browser: 'Navegador',
  ipAddress: 'Endereço IP',
  lastUsed: 'Último uso',
  signedIn: 'Entrada',
  thisSession: 'esta',
  unknownIp: 'endereço IP desconhecido',
  unknownProgram: 'Programa desconhecido',
  browserOn: (browser, system) => `${browser} em ${system}`,
  programIn: (language) => `Programa em ${language}`,
  end: 'Encerrar',
  endSession: (browser, ip) => `Encerrar a sessão de ${browser}, ${ip}`,
  endOthers: 'Encerrar todas as outras',
  sessionsHint: (link) =>
    parts`Uma sessão termina depois de 7 dias. A décima primeira entrada encerra a mais antiga. Alguma não é sua? Encerre-a e ${link('mude sua senha')}. Encerrar todas as outras e mudar a senha também desconectam seus aplicativos.`,
  sessionEnded: 'A sessão foi encerrada.',
  sessionMissing: 'Esta sessão já tinha terminado.',
  noOtherSessions: 'Não há outra sessão.',
  sessionsEnded: (sessions) => `${formats.count(sessions, 'sessão encerrada', 'sessões encerradas')}.`,
};
