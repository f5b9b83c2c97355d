insert into task_versions (task_id, number, user_id, via, fields, settings, created_at)
  select min(id), 1, min(user_id), 'api', '{prompt}', '{"prompt": "Say something short."}', now() from tasks;
insert into run_questions (execution_id, task_id, user_id, message, content, model, created_at)
  select 1, min(id), min(user_id), 'Why?', 'Because.', 'm', now() from tasks;
