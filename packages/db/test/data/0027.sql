insert into task_proposals values
  ('00000000-0000-4000-8000-000000000027', 1, '{"name":"Price"}', now(), now() + interval '1 day', null, null);
