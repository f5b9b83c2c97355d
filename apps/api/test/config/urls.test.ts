import t from 'tap';
import { ConfigError, loadConfig } from '../../src/lib/config/config.ts';
import { PRODUCTION_ENV } from '../support/production.ts';

const load = (env: Record<string, string>) => loadConfig({ ...PRODUCTION_ENV, ...env });

function explain(env: Record<string, string>): string {
  try {
    load(env);
    return '';
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
}

t.test('A database password that is not percent-encoded is refused in one line that does not show it', async (t) => {
  const encoding = 'write %23 for #, %25 for %, %2F for /, %3F for ? and %40 for @.';
  const passwords = ['s3#cret', 's3/cret', 's3?cret', 's3%cret', '12/34', '12#34', '12?34', '%ff', 'a@b/c', 'a@b%c'];
  for (const password of passwords) {
    const line = explain({ DATABASE_URL: `postgres://carillon:${password}@db.internal:5432/carillon` });
    t.equal(line, `DATABASE_URL has a user or password that is not percent-encoded: ${encoding}`, password);
  }
});

t.test('A database password with any encoded character is accepted', async (t) => {
  const characters = Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index)).join('');
  const url = `postgres://carillon:${encodeURIComponent(characters)}@db.internal/carillon?application_name=a@b`;
  t.equal(load({ DATABASE_URL: url }).databaseUrl, url);
});

t.test('Another fault of DATABASE_URL is named, without the password', async (t) => {
  const faults: Record<string, RegExp> = {
    'mysql://u:secret@db/x': /^DATABASE_URL is "mysql:\/\/…@db\/x", but takes a URL that begins with postgres:/,
    'postgres:/u:secret@db/x': /^DATABASE_URL is "postgres:…@db\/x", but takes/,
    'postgres://u:secret@db:port/x': /^DATABASE_URL is not a URL/,
    'postgres://u:secret@db/x?sslmode=verify_full':
      /^DATABASE_URL has sslmode=verify_full, which takes disable, .*verify-full\.$/,
    'postgres://u:secret@db/x?sslrootcert=/nothing.crt':
      /^DATABASE_URL names \/nothing\.crt as sslrootcert, which cannot be read\.$/,
  };
  for (const [DATABASE_URL, line] of Object.entries(faults)) {
    t.match(explain({ DATABASE_URL }), line, DATABASE_URL);
    t.notMatch(explain({ DATABASE_URL }), /secret/, DATABASE_URL);
  }
});

t.test('DATABASE_DIRECT_URL is checked like DATABASE_URL, which it needs', async (t) => {
  const url = 'postgres://carillon:secret@db.internal:5432/carillon';
  const both = { DATABASE_URL: url, DATABASE_DIRECT_URL: `${url}?sslmode=require` };
  t.match(load(both), { databaseUrl: url, databaseDirectUrl: both.DATABASE_DIRECT_URL, databasePrepare: 'auto' });
  t.match(explain({ ...both, DATABASE_DIRECT_URL: 'postgres://u:s#cret@db/x' }), /^DATABASE_DIRECT_URL has a user or/);
  t.match(
    explain({ DATABASE_URL: '', DATABASE_DIRECT_URL: url }),
    /^DATABASE_DIRECT_URL is set, but DATABASE_URL is not/,
  );
  t.match(
    explain({ ...both, DATABASE_PREPARE: 'maybe' }),
    /^DATABASE_PREPARE is "maybe", but takes auto or true or false\.$/,
  );
});

t.test('The URL of a provider ends before the path of its calls', async (t) => {
  const compatible = 'https://openrouter.ai/api/v1';
  const anthropic = 'https://api.anthropic.com/v1';
  t.match(load({ AI_BASE_URL: `${compatible}/`, ANTHROPIC_BASE_URL: anthropic }).ai, {
    baseUrl: compatible,
    anthropicBaseUrl: anthropic,
  });
  for (const ending of ['', '/', '//', '?key=1']) {
    t.match(explain({ AI_BASE_URL: `${compatible}/chat/completions${ending}` }), /ends before \/chat\/completions\.$/);
    t.match(explain({ ANTHROPIC_BASE_URL: `${anthropic}/messages${ending}` }), /ends before \/messages\.$/);
  }
});

t.test('BASE_URL has no path, APP_URL may have one', async (t) => {
  t.equal(load({ BASE_URL: 'https://api.example.com/' }).baseUrl, 'https://api.example.com');
  for (const part of ['/carillon', '/carillon/', '?a=b', '#a']) {
    t.match(explain({ BASE_URL: `https://example.com${part}` }), /^BASE_URL is .* a path is not supported\.$/, part);
  }
  t.equal(load({ APP_URL: 'https://example.com/app/' }).appUrl, 'https://example.com/app');
  for (const part of ['?a=b', '#a']) t.match(explain({ APP_URL: `https://example.com${part}` }), /^APP_URL is /, part);
});

t.test('CORS_ORIGINS lists origins; without it, the one of APP_URL is allowed', async (t) => {
  t.strictSame(load({ APP_URL: 'https://app.example.com/home' }).corsOrigins, ['https://app.example.com']);
  t.strictSame(
    load({ CORS_ORIGINS: 'https://A.example.com/, https://b.example.com:443,http://localhost:5173' }).corsOrigins,
    ['https://a.example.com', 'https://b.example.com', 'http://localhost:5173'],
  );
  for (const value of [
    '*',
    'null',
    'https://*.example.com',
    'https://a.example.com/app',
    'a.example.com',
    'https://a.com,',
  ]) {
    t.match(explain({ CORS_ORIGINS: value }), /^CORS_ORIGINS is .*, but takes origins separated by commas/, value);
  }
  t.match(explain({ CORS_ORIGINS: 'http://a.example.com' }), /^CORS_ORIGINS is .* production needs an https URL/);
});
