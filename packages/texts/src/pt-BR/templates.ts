import type { templates as en } from '../en/templates.ts';

export const templates: typeof en = {
  addressOf: (source) => `Endereço da fonte ${source}`,
};
