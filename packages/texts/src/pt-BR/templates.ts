import type { templates as en } from '../en/templates.ts';

export const templates: typeof en = {
  title: 'Modelos de tarefa',
  subtitle: 'Escolha um modelo e preencha as lacunas. Nada é salvo antes de você salvar.',
  categories: {
    news: 'Notícias',
    everyday: 'Dia a dia',
    buying: 'Compras',
    work: 'Trabalho',
    servers: 'Servidores',
    own: 'Outros',
  },
  lacks: {
    sources: '',
    search: 'este servidor não tem mecanismo de busca',
    web_search: 'o provedor de IA não pesquisa na web',
    web_fetch: 'o provedor de IA não lê páginas da web',
  },
  without: (reasons) => `Funciona em parte: ${reasons}.`,
  leftOut: (reasons) => `Uma parte deste modelo ficou de fora: ${reasons}.`,
  orTemplate: 'Ou comece com um modelo de tarefa',
  all: (templates) => `Todos os ${templates} modelos`,
  start: 'Começar com um modelo de tarefa',
  save: 'Salvar como modelo',

  formSubtitle: 'Preencha as lacunas e salve. O resto já está definido e pode ser mudado abaixo.',
  blanks: 'Preencha',
  blanksHint: 'Suas respostas substituem as palavras entre colchetes, como [cidade], ao salvar ou testar a tarefa.',
  example: (example) => `Por exemplo: ${example}`,
  fillIn: (label) => `Preencha “${label}”.`,
  addressOf: (source) => `Endereço da fonte ${source}`,

  fromFile: 'De um arquivo',
  fromFileHint: 'Um modelo que alguém salvou de uma tarefa, como arquivo JSON.',
  file: 'Arquivo',
  text: 'Ou cole o texto',
  open: 'Abrir no formulário',
  notOpened: 'Não foi aberto.',
  noFile: 'Escolha um arquivo ou cole o texto.',
  notJson: 'Isto não é JSON.',
  tooLong: 'O arquivo tem mais de 1 MiB.',
  notTemplate: (place, message) => `Isto não é um modelo. ${place}: ${message}`,
};
