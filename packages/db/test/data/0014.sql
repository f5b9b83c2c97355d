insert into api_keys values ('00000000-0000-4000-8000-000000000003', 1, 'Report', 'crl_00000000', repeat('c', 64), array['tasks:read'], null, now(), now());
insert into api_key_usage values ('00000000-0000-4000-8000-000000000003', '2026-11', 7);
