export const settings = {
  language: 'Language',
  languageHint: 'Of pages, mails, chat messages, alerts and notifications.',
  languageSaved: 'The language is saved.',
};
