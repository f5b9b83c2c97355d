import type { Static } from '@sinclair/typebox';
import type { ACTION_INPUTS } from './inputs.ts';
import type { ACTION_DATA, ActionError } from './results.ts';

export { ACTION_INPUTS, ActionClient } from './inputs.ts';
export { ACTION_DATA, ACTION_RECORDS, ActionError } from './results.ts';

/** The input of an action, besides ids. */
export type ActionInput<K extends keyof typeof ACTION_INPUTS> = Static<(typeof ACTION_INPUTS)[K]>;
/** The data of a successful action. */
export type ActionData<K extends keyof typeof ACTION_DATA> = Static<(typeof ACTION_DATA)[K]>;
export type ActionSuccess<D> = { success: true; data: D };
export type ActionResult<D> = ActionSuccess<D> | ActionError;
/** The names of the actions. */
export type ActionName = keyof typeof ACTION_DATA;
