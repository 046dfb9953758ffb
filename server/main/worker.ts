// `drover worker`: a backend in the foreground, for a fleet. Invalid settings are reported before
// anything is opened, because with an unreadable database URL it would use the project's own file.

import { Refusal } from '../core/failure.ts';
import type { WorkerOptions } from '../protocol/worker-notes.ts';
import { runBackend } from './backend.ts';
import { LiveSettings } from '../project/live-settings.ts';

export async function runWorker(request: WorkerOptions): Promise<void> {
  const { loaded } = await LiveSettings.load(request.root, request.env, request.flags);
  const [problem] = loaded.problems;
  if (problem !== undefined) throw new Refusal('bad_configuration', problem.message);
  if (loaded.settings.fleetDatabaseUrl === null) {
    throw new Refusal(
      'no_fleet',
      'DBOS_SYSTEM_DATABASE_URL is not set: a worker needs the PostgreSQL that its fleet shares, as postgresql://drover@db.example:5432/drover.',
    );
  }
  for (const { message } of loaded.warnings) {
    request.tell({ type: 'warning', at_ms: Date.now(), message });
  }
  await runBackend({ root: request.root, worker: request });
}
