/** All that the dashboard knows of the API: the types of the actions that it is handed. */
export type { WebActionData, WebActions } from '../../api/src/handlers/actions/web/build.ts';
