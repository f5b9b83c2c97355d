import { API_KEY_SCOPES, type ApiKeyScope, ASSISTANT_SCOPES } from '@carillon/contract/accounts/api-keys';

const ALL = Object.keys(API_KEY_SCOPES) as ApiKeyScope[];

/** What most keys are for, by the name in the form. Any other key has single scopes. */
export const PRESETS = {
  read: ALL.filter((scope) => scope.endsWith(':read')),
  all: ALL.filter((scope) => scope !== 'admin'),
  assistant: ASSISTANT_SCOPES,
} as const satisfies Record<string, readonly ApiKeyScope[]>;

export type Preset = keyof typeof PRESETS;
export const PRESET_NAMES = Object.keys(PRESETS) as Preset[];

export const isPreset = (name: string): name is Preset => Object.hasOwn(PRESETS, name);

/** The preset that gives just these scopes. */
export const findPreset = (scopes: readonly ApiKeyScope[]): Preset | undefined =>
  PRESET_NAMES.find(
    (name) => PRESETS[name].length === scopes.length && PRESETS[name].every((one) => scopes.includes(one)),
  );
