-- A statement that names the table plans for each of its partitions, at every new connection and after each analyze. Most claims
-- read no past execution.
CREATE FUNCTION "public"."past_execution"("execution" integer, "task" integer) RETURNS SETOF "public"."executions"
LANGUAGE plpgsql STABLE ROWS 1 AS $$
BEGIN
  RETURN QUERY SELECT * FROM "public"."executions" e WHERE e."id" = "execution" AND e."task_id" = "task";
END $$;
