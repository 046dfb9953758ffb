// A note in the project's folder that its plan is in a fleet's database. Without it, a command
// without the database URL would plan into the unused file.

import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Refusal } from '../core/failure.ts';
import type { ProjectPlaces } from './project-places.ts';

function noteOf(places: ProjectPlaces): string {
  return join(places.folder, 'fleet');
}

function noted(places: ProjectPlaces): string | null {
  const path = noteOf(places);
  return existsSync(path) ? readFileSync(path, 'utf8').trim() : null;
}

/** `shown`: the database without a password. */
export function noteFleet(places: ProjectPlaces, shown: string): void {
  if (noted(places) === shown) return;
  mkdirSync(places.folder, { recursive: true, mode: 0o700 });
  writeFileSync(noteOf(places), `${shown}\n`, { mode: 0o600 });
}

/** The project is in its own file again. */
export function forgetFleet(places: ProjectPlaces): void {
  rmSync(noteOf(places), { force: true });
}

export function refuseFileOfFleet(places: ProjectPlaces): void {
  const shown = noted(places);
  if (shown === null) return;
  throw new Refusal(
    'bad_configuration',
    `This project's plan is in the fleet's database ${shown}; set DBOS_SYSTEM_DATABASE_URL to it (with its password). To go back to one machine: drover migrate --from.`,
  );
}
