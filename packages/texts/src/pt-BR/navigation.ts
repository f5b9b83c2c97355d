import type { navigation as en } from '../en/navigation.ts';

export const navigation: typeof en = {
  skip: 'Ir para o conteúdo',
  menu: 'Menu',
  main: 'Principal',
  home: 'Início',
  tasks: 'Tarefas',
  runs: 'Execuções',
  agent: 'Agente',
  files: 'Arquivos',
  alerts: 'Alertas',
  channels: 'Canais',
  webhooks: 'Webhooks',
  notifications: 'Notificações',
  usage: 'Uso',
  settings: 'Configurações',
  administration: 'Administração',
  unread: 'não lidas',
  localTime: (place, time) => `${place}, ${time}`,
  signOut: 'Sair',
  sessionEnded: 'Sua sessão terminou e nada foi alterado. Entre e tente de novo.',
};
