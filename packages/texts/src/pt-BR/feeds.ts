import type { feeds as en } from '../en/feeds.ts';

export const feeds: typeof en = {
  off: 'As 50 respostas mais recentes, para um leitor de feeds. Quem tiver a URL pode ler.',
  onSince: (date) => `Ativo desde ${date}. A URL foi mostrada uma vez; uma nova a substitui.`,
  none: 'Desativado',
  since: (date) => `Ativo desde ${date}`,
  create: 'Criar feed',
  replace: 'Trocar URL do feed',
  end: 'Encerrar feed',
  task: 'Tarefa',
  created: 'O feed está ativo',
  ofAllTasks: 'As 50 respostas mais recentes de todas as tarefas.',
  ofTask: 'As 50 respostas mais recentes da tarefa.',
  urlOnce: 'A URL é mostrada só uma vez.',
  urlCopy: 'Copie agora. Depois só é possível trocá-la.',
  url: 'URL',
  urlHint:
    'Adicione-a a um leitor de feeds. Quem a tiver pode ler as respostas: trate-a como uma senha. A URL anterior deste feed não funciona mais.',
  confirm: 'Confirme sua senha',
  confirmSubtitle: 'Quem tiver a URL de um feed pode ler as respostas.',
  ended: 'O feed foi encerrado. A URL não funciona mais.',
};
