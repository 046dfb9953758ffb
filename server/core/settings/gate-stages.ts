// The stages of a gate are several commands that run side by side on one tree. A gate is always
// stored as one text; stages are encoded in it. So a landing keeps the stages it was queued with,
// and a verdict belongs to the commands that actually ran.

import { err, ok, type Result } from '../failure.ts';
import { protectedAmong } from '../plan/protected-paths.ts';

export interface GateStage {
  readonly name: string;
  /** A shell command. */
  readonly command: string;
  /**
   * The stage is needed only if one of these paths has changed. If the list is empty, it is always
   * needed.
   */
  readonly paths: readonly string[];
}

const mark = 'drover-stages ';

export function encodeStages(stages: readonly GateStage[]): string {
  return mark + JSON.stringify(stages);
}

/** Returns null for a gate that is one shell command. */
export function decodeStages(gate: string): readonly GateStage[] | null {
  return gate.startsWith(mark)
    ? (JSON.parse(gate.slice(mark.length)) as readonly GateStage[])
    : null;
}

/** Returns the shell commands that a gate consists of. */
export function gateCommands(gate: string): readonly string[] {
  return decodeStages(gate)?.map(({ command }) => command) ?? [gate];
}

/** Describes a gate to people: its command, or the names of its stages. */
export function gateTitle(gate: string): string {
  const stages = decodeStages(gate);
  return stages === null ? gate : `stages ${stages.map(({ name }) => name).join(', ')}`;
}

export interface NeededGate {
  /** The gate without the skipped stages. Null if no stage is left. */
  readonly gate: string | null;
  readonly skipped: readonly GateStage[];
}

/** Returns true if any stage depends on which files have changed. */
export function hasPaths(gate: string): boolean {
  return decodeStages(gate)?.some(({ paths }) => paths.length > 0) ?? false;
}

/** Returns the part of a gate that a change of these files needs. */
export function neededStages(gate: string, changed: readonly string[]): NeededGate {
  const stages = decodeStages(gate);
  if (stages === null) return { gate, skipped: [] };
  const isNeeded = ({ paths }: GateStage): boolean =>
    paths.length === 0 || protectedAmong(changed, paths).length > 0;
  const needed = stages.filter(isNeeded);
  const skipped = stages.filter((stage) => !needed.includes(stage));
  return { gate: needed.length === 0 ? null : encodeStages(needed), skipped };
}

/** Maximum number of stages of a gate. */
export const stagesMax = 8;
const stageName = /^[A-Za-z0-9][A-Za-z0-9_-]{0,31}$/u;

export const stagesExpected = `at most ${stagesMax} stages, each with a name of at most 32 letters, digits, "-" or "_", and a command, or a table with command and paths`;

/** Reads the table `[gate.stages]`. */
export function readStages(
  raw: unknown,
  isPath: (path: string) => boolean,
): Result<readonly GateStage[], string> {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) return err(stagesExpected);
  const stages: GateStage[] = [];
  for (const [name, value] of Object.entries(raw)) {
    if (!stageName.test(name)) return err(`${stagesExpected}; "${name.slice(0, 40)}" is no name`);
    const stage = readStage(name, typeof value === 'string' ? { command: value } : value, isPath);
    if (!stage.ok) return stage;
    stages.push(stage.value);
  }
  return stages.length > stagesMax ? err(stagesExpected) : ok(stages);
}

function readStage(
  name: string,
  value: unknown,
  isPath: (path: string) => boolean,
): Result<GateStage, string> {
  const { command, paths = [], ...others } = (value ?? {}) as Readonly<Record<string, unknown>>;
  const [other] = Object.keys(others);
  if (other !== undefined && typeof value === 'object')
    return err(`command and paths in the stage "${name}", not "${other.slice(0, 40)}"`);
  if (typeof command !== 'string' || command.trim() === '' || command.includes('\0'))
    return err(`a command in the stage "${name}"`);
  if (!Array.isArray(paths) || !paths.every((path) => typeof path === 'string' && isPath(path)))
    return err(`a list of paths inside the project in the stage "${name}"`);
  return ok({ name, command, paths });
}
