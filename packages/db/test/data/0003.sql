insert into mails (id, kind, recipient, subject, next_attempt_at, created_at) values
  ('00000000-0000-4000-8000-00000000000f', 'password_reset', 'bob@example.com', 'Reset', now(), now());
