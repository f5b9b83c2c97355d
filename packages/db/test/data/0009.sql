insert into oauth_clients (id, name, host, seen_at) values
  ('https://claude.ai/oauth/mcp-oauth-client-metadata', 'Claude', 'claude.ai', now());
insert into api_keys (id, user_id, name, prefix, scopes, created_at, client_id, client_host)
  select '00000000-0000-4000-8000-000000000701', min(users.id), 'Claude', '', '{tasks:read}', now(), c.id, c.host
  from users, oauth_clients c group by c.id;
insert into oauth_tokens (token_hash, kind, user_id, client_id, grant_id, key_id, payload, expires_at)
  select 'a', 'access', user_id, client_id, id, id, '{"scope": "tasks:read"}', now() from api_keys where client_id is not null;
