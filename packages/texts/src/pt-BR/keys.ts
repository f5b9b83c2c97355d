import type { keys as en } from '../en/keys.ts';
import { parts } from '../parts.ts';
import { formats } from './formats.ts';

export const keys: typeof en = {
  title: 'Chaves de API',
  subtitle: 'Uma chave permite que um programa use sua conta, dentro das permissões dela e sem sua senha.',
  newKey: 'Nova chave',
  assistant: 'Assistente',
  none: 'Nenhuma chave ainda. Crie uma abaixo para conectar um programa.',
  caption: 'Suas chaves de API, da mais nova à mais antiga',
  permissions: 'Permissões',
  lastUsed: 'Último uso',
  expires: 'Expira',
  created: (moment) => parts`criada ${moment}`,
  never: 'nunca',
  expired: 'expirou',
  rename: 'Renomear',
  renameKey: (name) => `Renomear ${name}`,
  deleteKey: (name) => `Excluir ${name}…`,

  name: 'Nome',
  nameHint: 'Por exemplo: script de backup',
  countPermissions: (permissions) => `${formats.number(permissions)} permissões`,
  presets: {
    read: {
      text: 'Só leitura',
      hint: 'Ver tarefas, execuções, arquivos, canais, uso, eventos e configurações. Não muda nada.',
    },
    all: { text: 'Tudo menos administração', hint: 'O que você pode fazer, exceto administrar este servidor.' },
    assistant: { text: 'Assistente', hint: 'Planejar tarefas, executá-las e ler as respostas.' },
    custom: { text: 'Escolher permissões', hint: 'Para um programa que precisa só de algumas.' },
  },
  chooseScopes: 'Escolha pelo menos uma',
  scopes: {
    'tasks:read': 'Ver tarefas e suas execuções previstas, e pré-visualizar agendamentos e prompts',
    'tasks:write': 'Criar, mudar, copiar e excluir tarefas, pular execuções e gerenciar feeds de tarefas',
    'executions:read': 'Ver execuções, respostas e alertas',
    'executions:run': 'Executar tarefas agora, executar as perdidas, e repetir e cancelar execuções',
    'agent:run': 'Enviar mensagens ao agente',
    'uploads:read': 'Ver arquivos',
    'uploads:write': 'Enviar e excluir arquivos',
    'webhooks:read': 'Ver webhooks, canais e suas entregas',
    'webhooks:write': 'Criar, mudar, testar e excluir webhooks e canais, e reenviar entregas',
    'usage:read': 'Ver uso, alertas de uso e notificações',
    'events:read': 'Ver eventos',
    'profile:read': 'Ver o perfil e as configurações',
    'profile:write':
      'Mudar o perfil (sem o e-mail), as configurações e os alertas de uso, marcar notificações como lidas e gerenciar o feed de todas as tarefas',
    admin: 'Administrar este servidor (só administradores)',
  },
  expiries: { 30: 'em 30 dias', 90: 'em 90 dias', 365: 'em um ano', never: 'nunca' },
  createKey: 'Criar chave',
  alreadyCreated: 'Esta chave já existe, e seu segredo não aparece de novo. Se você o perdeu, exclua a chave.',

  createdTitle: 'Chave criada',
  createdText: (name) => parts`Copie agora o segredo de ${name}. Ele não aparece de novo.`,
  bearer: 'Envie-o como bearer token, por exemplo:',

  renameTitle: 'Renomear chave',
  renamed: 'A chave foi renomeada.',
  deleteTitle: 'Excluir chave',
  deleteText: 'Os programas que usam esta chave perdem o acesso.',
  deleteName: (name, prefix) => parts`${name}, que começa com ${prefix}`,
  deleted: 'A chave foi excluída.',

  connect: 'Conectar um assistente',
  connectText: 'Um assistente compatível com MCP pode planejar tarefas com você, executá-las e ler as respostas.',
  createForAssistant: 'Criar uma chave para um assistente',
  url: 'URL',
  protocol: 'Protocolo',
  protocolText: 'MCP sobre HTTP com streaming, com a chave como bearer token',
  inTerminal: 'Execute isto em um terminal.',
  inFile: (file, projectFile) => parts`Adicione isto a ${file}, ou a ${projectFile} de um projeto.`,
  byCommand: (command) => parts`Execute o comando ${command} e adicione isto ao arquivo que se abre.`,
  configuration: (program) => `Configuração para ${program}`,
  placeholder: (placeholder) =>
    parts`Troque ${placeholder} pela sua chave. A auditoria mostra as mudanças do assistente com o nome da chave.`,
  connectWithKey: 'Conectar um assistente com esta chave',
  missingScopes: (scopes) =>
    parts`Faltam a esta chave permissões para assistentes. As ferramentas que precisam de ${scopes} são recusadas.`,
};
