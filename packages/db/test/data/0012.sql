insert into email_changes values (1, 'new@example.com', 'confirm', repeat('a', 64), now());
insert into notification_addresses values (2, 'team@example.com', repeat('b', 64), now(), null);
