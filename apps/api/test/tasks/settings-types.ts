import type { SettingTable } from '../../src/product/tasks/settings.ts';

// Nothing here runs: it holds what must not compile.

// @ts-expect-error a field of the contract needs an entry
export const withoutPrompt: SettingTable = {} as Omit<SettingTable, 'prompt'>;
// @ts-expect-error a field that requests may leave out needs a default
export const withoutDefault: SettingTable['maxTokens'] = {};
