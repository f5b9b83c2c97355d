insert into idempotency_keys values (
  '1:' || repeat('a', 64), 1, gen_random_uuid(), now(), now() + interval '30 s', 1, 201, '/api/tasks/1', 'sealed', now() + interval '1 day'
);
insert into idempotency_keys values (
  '1:' || repeat('b', 64), 1, gen_random_uuid(), now(), now() + interval '30 s', null, null, null, null, now() + interval '1 day'
);
