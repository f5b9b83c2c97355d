import type { lists as en } from '../en/lists.ts';

export const lists: typeof en = {
  pages: 'Páginas',
  firstPage: 'Primeira página',
  nextPage: 'Próxima página',
  newestFirst: (size) => `Mais recentes primeiro, ${size} por página`,
  today: 'Hoje',
  timesIn: (timeZone) => `Horários em ${timeZone}`,
  actions: 'Ações',
};
