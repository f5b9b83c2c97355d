insert into event_positions values (1, 2);
insert into events values (1, 1, 'task.created', 1, '{"task":{"id":1}}', now()), (1, 2, 'usage.alert', null, '{}', now());
insert into event_streams values
  ('00000000-0000-4000-8000-000000000017', 1, '00000000-0000-4000-8000-000000000016', null, now());
