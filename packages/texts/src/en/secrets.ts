import { parts } from '../parts.ts';

/** Headers that sources of tasks send. */
export const secrets = {
  title: 'Secrets',
  subtitle: 'A secret is a header that Carillon sends to one host when it reads a source of a task there.',
  none: 'No secrets yet. Sources of public pages need none.',
  caption: 'Your secrets, by name',
  name: 'Name',
  host: 'Host',
  header: 'Header',
  value: 'Value',
  lastUsed: 'Last used',
  never: 'never',
  newSecret: 'New secret',
  nameHint: 'Lower-case letters, digits and _, such as tracker',
  nameForm: 'must begin with a letter, and have only lower-case letters, digits and _',
  hostHint: 'Only this host gets the secret, such as api.example.com',
  headerHint: 'Most services use Authorization',
  valueHint: 'The whole value, with Bearer if the service needs it. It is stored encrypted and never shown again.',
  create: 'Create secret',
  created: 'The secret is created.',
  deleteSecret: (name: string) => `Delete ${name}…`,
  deleteTitle: 'Delete secret',
  deleteText: 'Sources that use this secret then fail.',
  deleteName: <P>(name: P, host: P) => parts`${name}, for ${host}`,
  deleted: 'The secret is deleted.',
};
