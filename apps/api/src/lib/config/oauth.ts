import { ConfigError, type Environment, readVariable } from './environment.ts';

const GOOGLE_ISSUER = 'https://accounts.google.com';

/** The external sign-in providers, null for each that is not configured. Throws for a half-configured one. */
export function readOAuth(env: Environment) {
  const google = readClient(env, 'GOOGLE');
  const github = readClient(env, 'GITHUB');
  const oidc = readClient(env, 'OIDC');
  const issuer = readVariable(env, 'OAUTH_OIDC_ISSUER');
  if ((oidc === null) !== (issuer === null)) {
    throw new ConfigError('OAUTH_OIDC_ISSUER, OAUTH_OIDC_CLIENT_ID and OAUTH_OIDC_CLIENT_SECRET must be set together.');
  }
  return {
    google: google && { ...google, issuer: GOOGLE_ISSUER },
    github: github && {
      ...github,
      url: readVariable(env, 'OAUTH_GITHUB_URL'),
      apiUrl: readVariable(env, 'OAUTH_GITHUB_API_URL'),
    },
    oidc: oidc && issuer !== null ? { ...oidc, issuer } : null,
  };
}

function readClient(env: Environment, name: 'GOOGLE' | 'GITHUB' | 'OIDC') {
  const clientId = readVariable(env, `OAUTH_${name}_CLIENT_ID`);
  const clientSecret = readVariable(env, `OAUTH_${name}_CLIENT_SECRET`);
  if (clientId !== null && clientSecret !== null) return { clientId, clientSecret };
  if (clientId === null && clientSecret === null) return null;
  throw new ConfigError(`OAUTH_${name}_CLIENT_ID and OAUTH_${name}_CLIENT_SECRET must be set together.`);
}
