import { parts } from '../parts.ts';
import { formats } from './formats.ts';

/** API keys, and assistants that use them. */
export const keys = {
  title: 'API keys',
  subtitle: 'A key lets a program use your account within its permissions, without your password.',
  newKey: 'New key',
  assistant: 'Assistant',
  none: 'No keys yet. Create one below to connect a program.',
  caption: 'Your API keys, newest first',
  permissions: 'Permissions',
  lastUsed: 'Last used',
  expires: 'Expires',
  created: <P>(moment: P) => parts`created ${moment}`,
  never: 'never',
  expired: 'expired',
  rename: 'Rename',
  renameKey: (name: string) => `Rename ${name}`,
  deleteKey: (name: string) => `Delete ${name}…`,

  name: 'Name',
  nameHint: 'For example: Backup script',
  countPermissions: (permissions: number) => `${formats.number(permissions)} permissions`,
  presets: {
    read: { text: 'Read only', hint: 'See tasks, runs, files, channels, usage, events and settings. Change nothing.' },
    all: { text: 'Everything but admin', hint: 'What you can do, except administer this server.' },
    assistant: { text: 'Assistant', hint: 'Plan tasks, run them, and read their answers.' },
    custom: { text: 'Choose permissions', hint: 'For a program that needs only some of them.' },
  },
  chooseScopes: 'Choose at least one',
  scopes: {
    'tasks:read': 'See tasks and their planned runs, and preview schedules and prompts',
    'tasks:write': 'Create, change, copy and delete tasks, skip runs, and manage feeds of tasks',
    'executions:read': 'See runs, answers and alerts',
    'executions:run': 'Run tasks now, run missed ones, and retry and cancel runs',
    'agent:run': 'Send messages to the agent',
    'uploads:read': 'See files',
    'uploads:write': 'Upload and delete files',
    'webhooks:read': 'See webhooks, channels and their deliveries',
    'webhooks:write': 'Create, change, test and delete webhooks and channels, and resend deliveries',
    'usage:read': 'See usage, usage alerts and notifications',
    'events:read': 'See events',
    'profile:read': 'See the profile and the settings',
    'profile:write':
      'Change the profile without its e-mail address, the settings and usage alerts, mark notifications as read, and manage the feed of all tasks',
    admin: 'Administer this server (admins only)',
  },
  expiries: { 30: 'in 30 days', 90: 'in 90 days', 365: 'in a year', never: 'never' },
  createKey: 'Create key',
  alreadyCreated: 'This key already exists, and its secret is not shown again. If you lost it, delete the key.',

  createdTitle: 'Key created',
  createdText: <P>(name: P) => parts`Copy the secret of ${name} now. It is not shown again.`,
  bearer: 'Send it as a bearer token, for example:',

  renameTitle: 'Rename key',
  renamed: 'The key is renamed.',
  deleteTitle: 'Delete key',
  deleteText: 'Programs that use this key lose access.',
  deleteName: <P>(name: P, prefix: P) => parts`${name}, which starts with ${prefix}`,
  deleted: 'The key is deleted.',

  connect: 'Connect an assistant',
  connectText: 'An assistant that supports MCP can plan tasks with you, run them and read their answers.',
  createForAssistant: 'Create a key for an assistant',
  url: 'URL',
  protocol: 'Protocol',
  protocolText: 'MCP over streamable HTTP, with the key as a bearer token',
  inTerminal: 'Run this in a terminal.',
  inFile: <P>(file: P, projectFile: P) => parts`Add this to ${file}, or to ${projectFile} of one project.`,
  byCommand: <P>(command: P) => parts`Run the command ${command}, and add this to the file that opens.`,
  configuration: (program: string) => `Configuration for ${program}`,
  placeholder: <P>(placeholder: P) =>
    parts`Replace ${placeholder} with your key. The audit log shows the assistant's changes with the name of the key.`,
  connectWithKey: 'Connect an assistant with this key',
  missingScopes: <P>(scopes: P) =>
    parts`This key lacks some permissions for assistants. Tools that need ${scopes} are rejected.`,
};
