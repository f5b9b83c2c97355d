import type { files as en } from '../en/files.ts';
import { parts } from '../parts.ts';
import { formats } from './formats.ts';

const { count } = formats;

export const files: typeof en = {
  title: 'Arquivos',
  subtitle: 'Imagens, PDFs e textos que as tarefas enviam com o prompt.',
  stored: 'Arquivos guardados',
  empty: 'Nenhum arquivo ainda. Adicione um e anexe-o a uma tarefa.',
  noOlder: 'Nenhum arquivo mais antigo.',
  onPage: (files) => `${count(files, 'arquivo', 'arquivos')} nesta página`,
  name: 'Nome',
  size: 'Tamanho',
  uploaded: 'Enviado',
  usedBy: 'Usado por',
  noTask: 'nenhuma tarefa',
  andMore: ' e mais',
  types: {
    'image/jpeg': 'imagem JPEG',
    'image/png': 'imagem PNG',
    'image/webp': 'imagem WebP',
    'image/gif': 'imagem GIF',
    'application/pdf': 'PDF',
    'text/plain': 'texto',
    'text/markdown': 'Markdown',
    'text/csv': 'tabela CSV',
    'application/json': 'JSON',
  },
  preview: 'prévia',
  previewOf: (name) => `de ${name}`,
  noPreview: 'Nenhuma prévia disponível.',
  download: 'Baixar',

  add: 'Adicionar arquivos',
  addHint: 'Imagens, PDFs, texto, CSV ou JSON: até 10 MB cada, 20 MB no total.',
  chooseOne: 'Escolha pelo menos um arquivo',
  added: (files) => `${count(files, 'arquivo foi guardado', 'arquivos foram guardados')}.`,
  tooLarge: (name) => `${name} é grande demais: até 10 MB por arquivo e 20 MB no total`,
  notStored: (name, reason) => `${name} não foi guardado: ${reason}`,
  tooMany: (wait) => `muitos arquivos de uma vez, tente de novo em ${wait}`,
  storage: 'Armazenamento',
  usedByFiles: (files) => `Usado por ${count(files, 'arquivo', 'arquivos')}`,
  usedStorage: 'Armazenamento usado',
  usedOf: (used, limit) => `${used} de ${limit}`,
  ofPlan: (limit) => `de ${limit} no seu plano`,

  deleteTitle: 'Excluir este arquivo?',
  attachedTo: (tasks) => parts`Anexado a ${tasks}.`,
  breaksRuns: (tasks) =>
    tasks === 1
      ? 'A próxima execução dela falha até você mudar os anexos.'
      : 'As próximas execuções delas falham até você mudar os anexos.',
  notAttached: 'Nenhuma tarefa o usa.',
  cannotUndo: 'Não é possível desfazer.',
  deleteFile: 'Excluir arquivo',
  deleted: (name, tasks) =>
    tasks === 0
      ? `${name} foi excluído.`
      : `${name} foi excluído. ${count(tasks, 'tarefa o usava', 'tarefas o usavam')}.`,
};
