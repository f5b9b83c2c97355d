import type { secrets as en } from '../en/secrets.ts';
import { parts } from '../parts.ts';

export const secrets: typeof en = {
  title: 'Segredos',
  subtitle: 'Um segredo é um cabeçalho que o Carillon envia a um servidor quando lê ali uma fonte de uma tarefa.',
  none: 'Nenhum segredo ainda. Fontes de páginas públicas não precisam de nenhum.',
  caption: 'Seus segredos, por nome',
  name: 'Nome',
  host: 'Servidor',
  header: 'Cabeçalho',
  value: 'Valor',
  lastUsed: 'Último uso',
  never: 'nunca',
  newSecret: 'Novo segredo',
  nameHint: 'Letras minúsculas, números e _, por exemplo tracker',
  nameForm: 'deve começar com uma letra e ter só letras minúsculas, números e _',
  hostHint: 'Só este servidor recebe o segredo, por exemplo api.example.com',
  headerHint: 'A maioria dos serviços usa Authorization',
  valueHint:
    'O valor inteiro, com Bearer se o serviço precisar. Ele é guardado criptografado e não é mostrado de novo.',
  create: 'Criar segredo',
  created: 'O segredo foi criado.',
  deleteSecret: (name) => `Excluir ${name}…`,
  deleteTitle: 'Excluir segredo',
  deleteText: 'As fontes que usam este segredo passam a falhar.',
  deleteName: (name, host) => parts`${name}, para ${host}`,
  deleted: 'O segredo foi excluído.',
};
