import type { lists as en } from '../en/lists.ts';
import { formats } from './formats.ts';

export const lists: typeof en = {
  pages: 'Páginas',
  firstPage: 'Primeira página',
  previousPage: 'Página anterior',
  nextPage: 'Próxima página',
  range: (from, to, total) => `${formats.number(from)} a ${formats.number(to)} de ${formats.number(total)}`,
  newestFirst: (size) => `Mais recentes primeiro, ${size} por página`,
  today: 'Hoje',
  timesIn: (timeZone) => `Horários em ${timeZone}`,
  actions: 'Ações',
  asCsv: 'Baixar como CSV',
  searchTitle: 'Buscar',
  searchLabel: 'Buscar tarefas, respostas e páginas',
  searchHint: 'Tarefas são encontradas pelo nome, execuções por palavras das respostas e dos prompts.',
  found: (found) => formats.count(found, 'resultado', 'resultados'),
  nothingFound: (q) => `Nada encontrado para “${q}”.`,
  allMatchingRuns: 'Todas as execuções encontradas',
};
