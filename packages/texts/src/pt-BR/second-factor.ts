import type { secondFactor as en } from '../en/second-factor.ts';
import { parts } from '../parts.ts';
import { formats } from './formats.ts';

export const secondFactor: typeof en = {
  title: 'Segundo fator',
  text: 'Com um segundo fator, uma senha roubada não basta para entrar.',
  count: (count) => (count === 0 ? 'Você não tem nenhum.' : `Você tem ${formats.count(count, 'fator', 'fatores')}.`),
  add: 'Adicionar um segundo fator',
  manage: 'Gerenciar',
  demanded: 'Esta instalação exige um segundo fator. Adicione um para continuar.',

  name: 'Nome',
  kind: 'Tipo',
  kinds: { passkey: 'Chave de acesso', totp: 'Aplicativo autenticador' },
  added: 'Adicionado',
  lastUsed: 'Último uso',
  never: 'nunca',
  delete: 'Excluir',
  deleteNamed: (name) => `Excluir ${name}`,
  deleteTitle: 'Excluir segundo fator',
  deleteText: 'Você não poderá mais entrar com ele.',
  deleteLast: 'É o último: depois a senha sozinha basta, e seus códigos de recuperação deixam de funcionar.',
  deleted: 'O segundo fator foi excluído.',

  addPasskey: 'Adicionar uma chave de acesso',
  passkeyText: 'Sua digital, seu rosto, o PIN do aparelho ou uma chave de segurança. Ela entra sem a senha.',
  passkeyName: 'Chave de acesso',
  needsScripts: 'Uma chave de acesso precisa de JavaScript neste navegador. Um aplicativo autenticador não.',
  passkeyFailed: 'O aparelho não confirmou. Tente de novo.',
  passkeyRejected: 'A chave de acesso não foi aceita. Tente de novo.',
  addApp: 'Adicionar um aplicativo autenticador',
  appText: 'Um aplicativo no celular que mostra um novo código a cada 30 segundos.',
  appName: 'Aplicativo autenticador',
  scan: 'Leia este código com o aplicativo.',
  qrCode: 'Código QR para o aplicativo autenticador',
  typeSecret: 'Ou digite esta chave no aplicativo:',
  firstCode: 'Código que o aplicativo mostra',
  wrongFirstCode: 'está errado. Confira o relógio do celular e digite o código atual',
  turnOn: 'Ativar',
  turnedOn: 'O segundo fator foi adicionado.',

  recoveryCodes: 'Códigos de recuperação',
  recoveryText: 'Cada um permite entrar uma vez se você perder o aparelho.',
  codesText: 'Imprima esta página ou copie os códigos. Eles não aparecem de novo.',
  codesFor: (host, email) => `De ${email} em ${host}`,
  codesOnce: 'Cada código vale uma vez no lugar do segundo fator. Guarde-os longe do aparelho.',
  codesKept: 'Já guardei',
  codesLeft: (left) => `Restam: ${formats.count(left, 'código', 'códigos')}.`,
  replaceCodes: 'Criar novos códigos',

  signInWithPasskey: 'Entrar com uma chave de acesso',
  stepText: 'Digite um código ou use sua chave de acesso.',
  code: 'Código',
  codeHint: 'Seis dígitos do aplicativo ou um código de recuperação.',
  wrongCode: 'está errado ou já foi usado',
  tooLate: 'O acesso demorou demais. Comece de novo.',
  lostDevice: 'Perdeu o aparelho?',
  lostDeviceCode:
    'Digite um código de recuperação. Depois exclua o aparelho perdido nas configurações e adicione o novo.',
  lostDeviceOperator: (command) =>
    parts`Sem códigos de recuperação? Peça a quem administra este serviço que execute ${command}.`,

  confirm: 'Confirmar',
  confirmTitle: 'Confirme que é você',
  confirmText: 'Mudanças de segundo fator precisam de uma confirmação dos últimos 15 minutos.',
  confirmWithPasskey: 'Confirmar com uma chave de acesso',

  demandLabel: 'Exigido de',
  demands: { off: 'Ninguém', admins: 'Administradores', all: 'Todos' },
  demandHint: 'Quem não tem um precisa adicioná-lo antes de tudo. As chaves de API continuam funcionando.',
};
