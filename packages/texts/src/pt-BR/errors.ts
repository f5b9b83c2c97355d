import type { errors as en } from '../en/errors.ts';

export const errors: typeof en = {
  backHome: 'Voltar ao início',
  notFound: 'Página não encontrada',
  notFoundText: 'Esta página não existe ou pertence a outra conta.',
  notAllowed: 'Sem permissão',
  notAllowedText: 'Sua conta não tem esta permissão.',
  notConfirmed: 'Não confirmado',
  tooManyRequests: 'Muitas solicitações',
  tryAgainIn: (wait) => `Tente de novo em ${wait}.`,
  unavailable: 'O Carillon não está disponível',
  quotaUsed: 'Cota esgotada',
  signedOut: 'Sessão encerrada',
  signedOutText: 'Sua sessão terminou. Entre de novo.',
  conflict: 'Alterado por outra pessoa',
  internal: 'Algo deu errado',
  internalText: 'O erro está no registro do servidor.',
  invalid: 'Solicitação inválida',
  invalidField: (field, problem) => `${field ?? 'A solicitação'}: ${problem ?? 'não é válida'}.`,
  unreadable: 'Não foi possível ler a solicitação.',
};
