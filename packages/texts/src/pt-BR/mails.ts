import type { mails as en } from '../en/mails.ts';
import { formats } from './formats.ts';

const NOT_YOU =
  'Não foi você? Outra pessoa está conectada à sua conta. Mude sua senha agora: isso encerra todas as outras sessões e\ninvalida o link.';

export const mails: typeof en = {
  resetPassword: (link) => ({
    subject: 'Redefina sua senha',
    text: `Olá,

alguém pediu para redefinir a senha da sua conta do Carillon. Abra este link em até uma hora:

${link}

Não foi você? Ignore esta mensagem: sua senha continua a mesma.
`,
  }),

  passwordReset: (keys) => ({
    subject: 'Sua senha foi mudada',
    text: `Olá,

a senha da sua conta do Carillon foi mudada, e todas as sessões foram encerradas.${KEYS[keys]}

Não foi você? Outra pessoa pode ler seus e-mails. Proteja primeiro sua caixa de entrada e depois redefina sua senha.
`,
  }),

  passwordChanged: () => ({
    subject: 'Sua senha foi mudada',
    text: `Olá,

a senha da sua conta do Carillon foi mudada, e todas as outras sessões foram encerradas.

Não foi você? Redefina sua senha agora: isso encerra todas as sessões.
As chaves de API continuam funcionando. Exclua as que você não conhece.
`,
  }),

  appConnected: (name, host, address) => ({
    subject: 'Um aplicativo foi conectado',
    text: `Olá,

${name} (${host}) foi conectado à sua conta do Carillon.

Não foi você? Desconecte-o em ${address} e mude sua senha agora.
`,
  }),

  keyCreated: (name, prefix, scopes) => ({
    subject: 'Uma chave de API foi criada',
    text: `Olá,

uma chave de API foi criada para sua conta do Carillon: "${name}". Ela começa com ${prefix} e tem as permissões
${formats.list(scopes)}.

Não foi você? Exclua a chave e mude sua senha agora.
`,
  }),

  emailChangeRequested: (email) => ({
    subject: 'O e-mail da sua conta vai mudar',
    text: `Olá,

o e-mail da sua conta do Carillon vai mudar para ${email} quando o link enviado para lá for aberto.

${NOT_YOU}
`,
  }),

  approveEmail: (email, link) => ({
    subject: 'Aprove o novo e-mail da sua conta',
    text: `Olá,

alguém pediu para mudar o e-mail da sua conta do Carillon para ${email}. Para aprovar, abra este link em até uma hora:

${link}

O novo e-mail recebe então um link de confirmação.

${NOT_YOU}
`,
  }),

  confirmEmail: (link) => ({
    subject: 'Confirme o e-mail da sua conta',
    text: `Olá,

este é o novo e-mail de uma conta do Carillon. Para confirmar, abra este link em até uma hora:

${link}

Não foi você? Ignore esta mensagem: nada muda.
`,
  }),

  emailChanged: () => ({
    subject: 'O e-mail da sua conta foi mudado',
    text: `Olá,

sua conta do Carillon tem um novo e-mail. Você não pode mais entrar com este, e ele não recebe mais mensagens sobre a
conta. Links de senha enviados para cá não valem mais.

Não foi você? Outra pessoa está conectada à sua conta. Peça ajuda a quem administra este serviço.
`,
  }),

  factorAdded: (name) => ({
    subject: 'Um segundo fator foi adicionado',
    text: `Olá,

sua conta do Carillon tem um novo segundo fator: "${name}". Entrar com a senha pede um segundo fator.

Não foi você? Outra pessoa está conectada à sua conta. Mude sua senha agora e exclua esse fator.
`,
  }),

  factorRemoved: (name) => ({
    subject: 'Um segundo fator foi removido',
    text: `Olá,

"${name}" não é mais um segundo fator da sua conta do Carillon.

Não foi você? Outra pessoa está conectada à sua conta. Mude sua senha agora.
`,
  }),

  recoveryCodeUsed: (left) => ({
    subject: 'Um código de recuperação foi usado',
    text: `Olá,

um código de recuperação da sua conta do Carillon foi usado como segundo fator. Códigos restantes: ${left}.

Não foi você? Outra pessoa tem sua senha e seus códigos. Mude a senha e crie novos códigos.
Perdeu o aparelho? Exclua o fator dele nas configurações e adicione um novo.
`,
  }),

  recoveryCodesCreated: () => ({
    subject: 'Os códigos de recuperação foram trocados',
    text: `Olá,

sua conta do Carillon tem novos códigos de recuperação. Os anteriores não funcionam mais.

Não foi você? Outra pessoa está conectada à sua conta. Mude sua senha agora e crie novos códigos.
`,
  }),

  factorsReset: () => ({
    subject: 'Os segundos fatores da sua conta foram zerados',
    text: `Olá,

quem administra este serviço removeu todos os segundos fatores da sua conta do Carillon e encerrou todas as sessões.
Entre com sua senha e adicione um novo fator.

Não pediu isso? Fale com quem administra este serviço.
`,
  }),

  confirmAddress: (account, link) => ({
    subject: 'Confirme que você quer estas mensagens',
    text: `Olá,

a conta ${account} do Carillon quer enviar notificações ou respostas para este e-mail. Para permitir, abra este link em
até uma hora:

${link}

Não foi você? Ignore esta mensagem: nada mais é enviado para cá.
`,
  }),

  ownFooter: 'Você recebe esta mensagem por ter uma conta do Carillon. Mude isso nas configurações.',
  addressFooter: (account) =>
    `Você recebe esta mensagem porque a conta ${account} do Carillon envia suas notificações para este e-mail.`,
  taskFooter: (account) =>
    `Você recebe esta mensagem porque a conta ${account} do Carillon envia os alertas desta tarefa para este e-mail.`,
};

const KEYS = {
  kept: '\nAs chaves de API continuam funcionando. Exclua as que você não conhece.',
  deleted: '\nAs chaves de API foram excluídas: o e-mail não estava verificado, e outra pessoa pode tê-las criado.',
  none: '',
};
