import type { en } from '../en/index.ts';
import { account } from './account.ts';
import { errors } from './errors.ts';
import { formats } from './formats.ts';
import { forms } from './forms.ts';
import { home } from './home.ts';
import { navigation } from './navigation.ts';
import { settings } from './settings.ts';

/** Until every area is translated, an absent one is English. */
export const ptBR: Partial<typeof en> & Pick<typeof en, 'formats'> = {
  account,
  errors,
  formats,
  forms,
  home,
  navigation,
  settings,
};
