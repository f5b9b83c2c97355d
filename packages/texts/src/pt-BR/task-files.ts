import type { taskFiles as english } from '../en/task-files.ts';
import { parts } from '../parts.ts';
import { formats } from './formats.ts';

const { count } = formats;

export const taskFiles: typeof english = {
  title: 'Importar e exportar',
  subtitle: 'Suas tarefas como arquivo, para um repositório Git ou outra instalação.',
  setting: 'Tarefas como arquivo',
  settingHint: 'Exporte todas as tarefas, ou crie e altere tarefas a partir de um arquivo.',
  export: 'Exportar',
  exportText: 'Todas as tarefas em YAML, sem segredos.',
  download: 'Baixar tarefas',
  import: 'Importar',
  importText:
    'O arquivo diz como as tarefas devem ficar, cada uma pelo seu externalId. Você vê o que muda antes de qualquer alteração. Tarefas novas ficam pausadas, a não ser que o arquivo diga active.',
  file: 'Arquivo (YAML ou JSONL)',
  text: 'Ou o texto dele',
  prune: 'Excluir tarefas de importações anteriores que o arquivo não tem',
  preview: 'Pré-visualizar',
  more: (code) =>
    parts`Aqui um arquivo pode ter 512 KB. O comando ${code('carillon tasks')} aceita mais e combina com o Git.`,
  noFile: 'Escolha um arquivo ou cole o texto dele.',
  tooLong: 'O arquivo tem mais de 512 KB: use o comando.',
  notText: 'O arquivo não é texto em UTF-8.',
  previewTitle: 'Prévia da importação',
  created: (tasks) => `${count(tasks, 'tarefa', 'tarefas')} a criar`,
  updated: (tasks) => `${count(tasks, 'tarefa', 'tarefas')} a alterar`,
  deleted: (tasks) => `${count(tasks, 'tarefa', 'tarefas')} a excluir`,
  unchanged: (tasks) => `${count(tasks, 'tarefa igual', 'tarefas iguais')}`,
  nothing: 'Todas as tarefas já estão como diz o arquivo.',
  task: 'Tarefa',
  nextRuns: 'Próximas execuções',
  noRuns: 'nenhuma',
  apply: 'Aplicar',
  done: (created, updated, deleted) =>
    `Importação concluída: criadas ${created}, alteradas ${updated}, excluídas ${deleted}.`,
  problems: (errors) => `${count(errors, 'problema', 'problemas')} no arquivo: nada foi alterado`,
  place: 'Linha e campo',
  line: (line) => `Linha ${line}`,
  problem: 'Problema',
};
