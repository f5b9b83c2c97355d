insert into providers (id, name, kind, base_url, api_key_encrypted, max_concurrent, created_at, updated_at) values
  ('00000000-0000-4000-8000-000000000101', 'local', 'openai', 'http://127.0.0.1:11434/v1', 'v1.k1.AAAA', 2, now(), now());
insert into listed_models values ('local', 'llama', now(), null, null);
