-- Filled tables are prepared before, see src/partitions/online-steps.ts: attaching them reads no row then.
DO $$
DECLARE
  part record;
  bound text;
  next_id bigint;
  old name;
BEGIN
  FOR part IN
    SELECT * FROM (VALUES
      ('occurrences', 'planned_for', 'timestamptz', false),
      ('events', 'created_at', 'timestamptz', false),
      ('usage_records', 'day', 'date', true),
      ('audit_log', 'at', 'timestamptz', true)
    ) t(name, key, type, has_identity)
  LOOP
    SELECT (regexp_match(pg_get_constraintdef(oid), '''([^'']+)'''))[1] INTO bound
    FROM pg_constraint WHERE conrelid = part.name::regclass AND conname = part.name || '_before_months';
    IF bound IS NULL THEN
      EXECUTE format('SELECT greatest(date_trunc(''month'', now() AT TIME ZONE ''UTC'') + interval ''2 months'',
        date_trunc(''month'', max(%I::timestamptz) AT TIME ZONE ''UTC'') + interval ''1 month'') || ''+00'' FROM %I', part.key, part.name)
      INTO bound;
    END IF;
    EXECUTE format('ALTER TABLE %I RENAME TO %I', part.name, part.name || '_before');
    FOR old IN
      SELECT relname FROM pg_index JOIN pg_class ON oid = indexrelid WHERE indrelid = (part.name || '_before')::regclass
    LOOP
      EXECUTE format('ALTER INDEX %I RENAME TO %I', old, regexp_replace(old, '^' || part.name, part.name || '_before'));
    END LOOP;
    EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING DEFAULTS INCLUDING CONSTRAINTS) PARTITION BY RANGE (%I)', part.name, part.name || '_before', part.key);
    EXECUTE format('ALTER TABLE %I DROP CONSTRAINT IF EXISTS %I', part.name, part.name || '_before_months');
    IF part.has_identity THEN
      EXECUTE format('SELECT last_value + is_called::int FROM %I', part.name || '_id_seq') INTO next_id;
      EXECUTE format('ALTER TABLE %I ALTER COLUMN id DROP IDENTITY', part.name || '_before');
      EXECUTE format('ALTER TABLE %I ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (SEQUENCE NAME %I START WITH %s)',
        part.name, part.name || '_id_seq', next_id);
    END IF;
    IF part.name = 'occurrences' THEN
      ALTER TABLE occurrences ADD CONSTRAINT occurrences_task_id_planned_for_pk PRIMARY KEY (task_id, planned_for);
      ALTER TABLE occurrences ADD CONSTRAINT occurrences_task_id_tasks_id_fk FOREIGN KEY (task_id) REFERENCES tasks (id) ON DELETE CASCADE;
    ELSIF part.name = 'usage_records' THEN
      ALTER TABLE usage_records ADD CONSTRAINT usage_records_user_id_users_id_fk FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE;
    END IF;
    EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (MINVALUE) TO (%L)', part.name, part.name || '_before', bound);
    EXECUTE format('ALTER TABLE %I DROP CONSTRAINT IF EXISTS %I', part.name || '_before', part.name || '_before_months');
    EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING ALL EXCLUDING IDENTITY)', part.name || '_later', part.name || '_before');
    EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (MAXVALUE)', part.name, part.name || '_later', bound);
  END LOOP;
END $$;
