update users set notification_emails = '{team@example.com,ops@example.com}' where id = 1;
update tasks set notification_email = 'ops@example.com' where id = 1;
