// Records the values of rows before each change, in PostgreSQL, by one trigger function for all
// tables.

import { type Kysely, sql } from 'kysely';
import { pastlessColumns, pastTables } from '../schema/past-tables.ts';

const ignored = pastlessColumns.map((name) => `'${name}'`).join(', ');

const functions: readonly string[] = [
  `CREATE FUNCTION keep_past() RETURNS trigger LANGUAGE plpgsql AS $$
   DECLARE
     before JSONB;
     present JSONB;
     changed JSONB;
     owner JSONB;
   BEGIN
     IF TG_OP <> 'INSERT' THEN before := to_jsonb(OLD); END IF;
     IF TG_OP <> 'DELETE' THEN present := to_jsonb(NEW); END IF;
     IF TG_OP = 'DELETE' THEN
       changed := before;
     ELSIF TG_OP = 'UPDATE' THEN
       SELECT jsonb_object_agg(o.key, o.value) INTO changed FROM jsonb_each(before) o
         WHERE o.value IS DISTINCT FROM present -> o.key AND o.key NOT IN (${ignored});
       IF changed IS NULL THEN RETURN NULL; END IF;
     END IF;
     SELECT jsonb_agg(coalesce(present, before) -> name ORDER BY place) INTO owner
       FROM unnest(TG_ARGV[:]) WITH ORDINALITY AS columns(name, place);
     EXECUTE format('INSERT INTO %I.past (tx, op, tbl, key, old) VALUES ($1, $2, $3, $4, $5)', TG_TABLE_SCHEMA)
       USING pg_current_xact_id()::text::bigint, lower(TG_OP), TG_TABLE_NAME, owner::text, changed::text;
     RETURN NULL;
   END $$`,
  `CREATE FUNCTION keep_past_event() RETURNS trigger LANGUAGE plpgsql AS $$
   DECLARE
     last BIGINT;
   BEGIN
     EXECUTE format('SELECT coalesce(max(n), 0) FROM %I.past', TG_TABLE_SCHEMA) INTO last;
     EXECUTE format('INSERT INTO %I.past_events (seq, n, tx) VALUES ($1, $2, $3)
       ON CONFLICT (seq) DO UPDATE SET n = EXCLUDED.n, tx = EXCLUDED.tx', TG_TABLE_SCHEMA)
       USING NEW.seq, last, pg_current_xact_id()::text::bigint;
     RETURN NULL;
   END $$`,
  `CREATE TRIGGER past_of_events AFTER INSERT ON events FOR EACH ROW EXECUTE FUNCTION keep_past_event()`,
];

export async function addPastTriggers<Tables>(db: Kysely<Tables>): Promise<void> {
  for (const statement of functions) await sql.raw(statement).execute(db);
  for (const { table, key } of pastTables) {
    const names = key.map((name) => `'${name}'`).join(', ');
    await sql
      .raw(
        `CREATE TRIGGER past_of_${table} AFTER INSERT OR UPDATE OR DELETE ON ${table}
         FOR EACH ROW EXECUTE FUNCTION keep_past(${names})`,
      )
      .execute(db);
  }
}
