// The progress of an exporter of the feed, and the machine that exports.

import type { Reads, Tx } from '../schema/tables.ts';
import type { ExporterTable } from '../schema/exporter-table.ts';

/** Exports traces over OTLP. */
export const traceExporter = 'otlp-traces';

export async function readExporter(db: Reads, name: string): Promise<ExporterTable | null> {
  const row = await db
    .selectFrom('exporters')
    .selectAll()
    .where('name', '=', name)
    .executeTakeFirst();
  return row ?? null;
}

/** Makes a new exporter start after this event. */
export async function beginExporter(tx: Tx, name: string, seq: number): Promise<void> {
  await tx
    .insertInto('exporters')
    .values({
      name,
      seq,
      owner: null,
      owner_until_ms: null,
      sent_at_ms: null,
      error: null,
      error_at_ms: null,
    })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .execute();
}

/** Returns true if this machine alone may export until the given time. */
export async function takeExporter(
  tx: Tx,
  name: string,
  owner: string,
  time: { readonly nowMs: number; readonly untilMs: number },
): Promise<boolean> {
  const taken = await tx
    .updateTable('exporters')
    .set({ owner, owner_until_ms: time.untilMs })
    .where('name', '=', name)
    .where((eb) =>
      eb.or([
        eb('owner', 'is', null),
        eb('owner', '=', owner),
        eb('owner_until_ms', '<=', time.nowMs),
      ]),
    )
    .returning('name')
    .executeTakeFirst();
  return taken !== undefined;
}

export async function moveExporter(
  tx: Tx,
  name: string,
  seq: number,
  sentAtMs: number | null,
): Promise<void> {
  await tx
    .updateTable('exporters')
    .set({
      seq,
      error: null,
      error_at_ms: null,
      ...(sentAtMs !== null && { sent_at_ms: sentAtMs }),
    })
    .where('name', '=', name)
    .where('seq', '<=', seq)
    .execute();
}

export async function noteExportError(
  tx: Tx,
  name: string,
  error: string,
  atMs: number,
): Promise<void> {
  await tx
    .updateTable('exporters')
    .set({ error, error_at_ms: atMs })
    .where('name', '=', name)
    .execute();
}
