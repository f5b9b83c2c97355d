import type { fallback as en } from '../en/fallback.ts';
import { formats } from './formats.ts';

export const fallback: typeof en = {
  reasons: {
    RATE_LIMIT_EXCEEDED: 'atingiu o limite de requisições',
    TIMEOUT: 'não respondeu a tempo',
    PROVIDER_UNAVAILABLE: 'estava indisponível ou sobrecarregado',
    AUTHENTICATION_FAILED: 'recusou a chave de API',
    QUOTA_EXCEEDED: 'está sem crédito',
    UNKNOWN_MODEL: 'não existe no provedor',
  },
  otherReason: 'devolveu uma resposta inválida',
  model: (model, reason, tries, duration) =>
    `${model} ${reason} (${formats.count(tries, 'tentativa', 'tentativas')}, ${duration})`,
  answeredBy: (model, reasons) => `Respondido por ${model}, porque ${reasons}.`,
};
