import type { failures as en } from '../en/failures.ts';

export const failures: typeof en = {
  openSettings: 'Abrir as configurações',
  openUsage: 'Abrir o uso',
  openProviders: 'Abrir os provedores de IA',
  openSystemSettings: 'Abrir as configurações do sistema',
  forAdmins: {
    AUTHENTICATION_FAILED:
      'Troque sua própria chave nas suas configurações ou a chave deste servidor: AI_API_KEY, ANTHROPIC_API_KEY ou o provedor na administração. Depois tente de novo.',
    UNKNOWN_MODEL:
      'Escolha outro modelo na tarefa. Se nenhum provedor está definido, defina AI_BASE_URL ou adicione um provedor na administração.',
    PROVIDER_UNAVAILABLE:
      'Tente de novo em alguns minutos. Se acontecer outra vez, verifique AI_BASE_URL ou a URL base do provedor na administração.',
    QUOTA_EXCEEDED: 'Adicione crédito no provedor ou troque a chave dele na administração. Depois tente de novo.',
    overQuota:
      'Aumente o número de execuções por usuário e dia nas configurações do sistema ou o plano da conta. Depois tente de novo.',
  },
  RATE_LIMIT_EXCEEDED: {
    why: 'O limite de requisições do provedor foi atingido (429)',
    whatToDo: 'Tente de novo em alguns minutos. Se acontecer muito, execute suas tarefas em horários diferentes.',
  },
  TIMEOUT: {
    why: 'O provedor não respondeu a tempo',
    whatToDo: 'Tente de novo agora. Se acontecer muito, peça uma resposta mais curta ou escolha um modelo mais rápido.',
  },
  PROVIDER_UNAVAILABLE: {
    why: 'O provedor não está disponível',
    whatToDo: 'Tente de novo em alguns minutos. A tarefa está correta.',
  },
  PROVIDER_ERROR: {
    why: 'O provedor devolveu uma resposta inválida',
    whatToDo: 'Tente de novo agora. Se acontecer outra vez, escolha outro modelo.',
  },
  AUTHENTICATION_FAILED: {
    why: 'O provedor recusou a chave de API',
    whatToDo: 'Troque sua chave ou, se você não definiu uma, fale com um administrador. Depois tente de novo.',
  },
  UNKNOWN_MODEL: {
    why: 'O provedor não tem este modelo',
    whatToDo: 'Escolha outro modelo na tarefa. Depois tente de novo.',
  },
  INVALID_REQUEST: {
    why: 'O provedor recusou a requisição',
    whatToDo: 'Verifique o modelo, o tamanho máximo e os anexos da tarefa. Depois tente de novo.',
  },
  CONTENT_FILTERED: {
    why: 'O filtro de conteúdo do provedor recusou a requisição',
    whatToDo: 'Mude o prompt. Depois tente de novo.',
  },
  QUOTA_EXCEEDED: {
    why: 'A conta no provedor está sem crédito',
    whatToDo: 'Adicione crédito no provedor ou fale com um administrador. Depois tente de novo.',
  },
  INTERRUPTED: {
    why: 'A execução foi interrompida antes da resposta',
    whatToDo: 'Tente de novo agora. A tarefa está correta.',
  },
  INVALID_OUTPUT: {
    why: 'A resposta não segue o esquema de saída',
    whatToDo: 'Diga no prompt o que a resposta deve conter ou edite o esquema. Depois tente de novo.',
  },
  CANCELLED: {
    why: 'A execução foi interrompida',
    whatToDo: 'Execute a tarefa de novo se ainda quiser a resposta.',
  },
  overQuota: {
    why: 'Sua cota acabou',
    whatToDo: 'As execuções voltam quando a cota zerar. Tente de novo depois disso.',
  },
  unknown: {
    why: 'A execução falhou',
    whatToDo: 'Tente de novo agora.',
  },
};
