import { account } from './account.ts';
import { errors } from './errors.ts';
import { formats } from './formats.ts';
import { forms } from './forms.ts';
import { home } from './home.ts';
import { navigation } from './navigation.ts';
import { settings } from './settings.ts';

export const en = { account, errors, formats, forms, home, navigation, settings };
