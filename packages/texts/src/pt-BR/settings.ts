import type { settings as en } from '../en/settings.ts';

export const settings: typeof en = {
  language: 'Idioma',
  languageHint: 'De páginas, e-mails, mensagens, alertas e notificações.',
  languageSaved: 'O idioma foi salvo.',
};
