import type { search as en } from '../en/search.ts';
import { formats } from './formats.ts';

export const search: typeof en = {
  title: 'Buscar',
  label: 'Buscar tarefas, respostas e páginas',
  hint: 'Tarefas são encontradas pelo nome, execuções por palavras das respostas e dos prompts.',
  count: (found) => formats.count(found, 'resultado', 'resultados'),
  nothing: (q) => `Nada encontrado para “${q}”.`,
  pages: 'Páginas',
  allRuns: 'Todas as execuções encontradas',
};
