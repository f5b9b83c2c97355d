import about from '../../package.json' with { type: 'json' };

/** The version of the running service. */
export const VERSION: string = about.version;
