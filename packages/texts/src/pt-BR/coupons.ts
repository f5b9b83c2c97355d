import type { coupons as en } from '../en/coupons.ts';
import { parts } from '../parts.ts';
import { formats } from './formats.ts';

const { count, number } = formats;

export const coupons: typeof en = {
  title: 'Cupons',
  subtitle: 'Um cupom prolonga o período de teste de uma conta.',
  newCoupon: 'Novo cupom',
  coupons: 'Cupons',
  active: (coupons) => count(coupons, 'ativo', 'ativos'),
  allUses: 'Usos',
  allUsesText: 'por todas as contas',
  none: 'Nenhum cupom ainda. Crie um para prolongar testes.',
  createFirst: 'Criar o primeiro cupom',
  states: { off: 'Desativado', expired: 'Expirado', used: 'Esgotado', valid: 'Válido' },
  caption: 'Cupons, do mais novo ao mais antigo',
  code: 'Código',
  state: 'Estado',
  trial: 'Teste',
  uses: 'Usos',
  expires: 'Expira',
  createdBy: (email) => `por ${email}`,
  extraDays: (days) => `+${count(days, 'dia', 'dias')}`,
  usesOf: (uses, max) => `${number(uses)} de ${number(max)}`,
  never: 'Nunca',

  newText: 'Uma conta pode usar cada cupom uma vez.',
  codeLabel: 'Código (opcional)',
  codeHint: 'De 4 a 40 letras, números, “-” e “_”. Deixe em branco para um código aleatório.',
  days: 'Dias a mais de teste (opcional)',
  daysHint: 'Deixe em branco para a duração do teste de novas contas.',
  maxUses: 'Máx. de usos (opcional)',
  maxUsesHint: 'Deixe em branco para nenhum limite.',
  expiry: 'Expira (opcional)',
  expiryHint: (localTime) => `${localTime} Deixe em branco para nunca.`,
  create: 'Criar cupom',
  created: (code) => `O cupom ${code} foi criado.`,

  createdAt: 'Criado',
  createdAtBy: <P>(moment: P, email: string) => parts<P | string>`${moment} por ${email}`,
  changedAt: 'Mudado',
  change: 'Editar cupom',
  on: 'Ativo',
  saved: 'O cupom foi salvo.',
  usesHint: 'sem contas excluídas',
  noUses: 'Nenhum uso ainda. As contas que usam o cupom aparecem aqui.',
  usesCaption: 'Usos, do mais novo ao mais antigo',
  user: 'Usuário',
  usedAt: 'Usado',

  deleteTitle: 'Excluir cupom',
  deleteText: <P>(code: P, uses: number) =>
    parts<
      P | string
    >`O código ${code} deixa de funcionar, e sua lista de ${count(uses, 'uso', 'usos')} é excluída. Os testes prolongados continuam prolongados.`,
  deleted: 'O cupom foi excluído.',
};
