import type { forms as en } from '../en/forms.ts';
import { formats } from './formats.ts';

export const forms: typeof en = {
  save: 'Salvar',
  cancel: 'Cancelar',
  apply: 'Aplicar',
  edit: 'Editar',
  delete: 'Excluir…',
  copied: 'Já copiei',
  copy: 'Copiar',
  isCopied: 'Copiado',
  correct: (count) => `Corrija ${formats.count(count, 'campo', 'campos')}.`,
  tooManyAttempts: (wait) => `Muitas tentativas. Tente de novo em ${wait}.`,
  notSent: 'Não enviado',
  signInFirst:
    'Sua sessão terminou e nada foi alterado. O que você digitou está guardado aqui: entre, volte a esta aba e envie de novo.',
  filesNotKept: (names) => `Grande demais para guardar: ${names}. Anexe outra vez.`,
  sendNow: 'Você entrou de novo. Envie o que digitou ou feche esta página para descartar.',
  sendAgain: 'Enviar de novo',
  notAccepted: 'Formulário não aceito',
  cookieLost: (help) => `Seu navegador não devolveu um cookie. ${help}`,
  outdated: 'O formulário está desatualizado ou vem de outro site. Volte, recarregue a página e envie de novo.',
  otherOrigin: (origin) =>
    `O formulário vem de um endereço diferente de ${origin}, onde o Carillon funciona. Abra o Carillon ali e tente de novo.`,
  allowCookies: (origin) => `Permita cookies para este site e abra o Carillon em ${origin}.`,
  cookiesNeedHttps:
    'Por http, os navegadores só guardam os cookies do Carillon em localhost. Abra o Carillon por https ou defina COOKIE_SECURE=false para testar.',
};
