insert into task_sources (id, task_id, name, definition, digest, text_encrypted, as_of)
  select '00000000-0000-4000-8000-000000000601', min(id), 'page', 'a', 'b', 'v1.k1.AAAA', now() from tasks;
insert into task_looks (id, instants, waiting_since) select min(id), array[now()], now() from tasks;
