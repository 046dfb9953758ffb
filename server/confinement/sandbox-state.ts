// How agents, gates and setups are confined on this machine, determined by the settings and a test,
// and reported in one sentence.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { findProgram } from '../agents/kit/process/find-program.ts';
import {
  networkText,
  type SandboxMode,
  type SandboxSettings,
} from '../core/settings/sandbox-settings.ts';
import type { SettingSource } from '../core/settings/settings.ts';
import type { SandboxView } from '../protocol/views.ts';
import { proveBwrap, type Proof } from '../sandbox/probe.ts';

/** The sandbox for programs that start now. */
export interface SandboxState {
  readonly mode: SandboxMode;
  /** `agent`: agents confine themselves; gates and setups are not confined. */
  readonly holds: 'bwrap' | 'agent' | 'nothing';
  /** In this state, no program is started. */
  readonly refuses: boolean;
  /** One sentence for people. */
  readonly message: string;
}

const proofs = new Map<string, Promise<Proof>>();

/** The place of the setting by which the user switched the sandbox off. */
function switchedOffBy(source: SettingSource): string {
  switch (source) {
    case 'env':
      return ' by DROVER_SANDBOX';
    case 'project':
      return ' in .drover.toml ([sandbox] mode = "off")';
    case 'user':
      return ' in your settings file ([sandbox] mode = "off")';
    case 'policy':
    case 'flag':
    case 'default':
      return ' ([sandbox] mode = "off")';
  }
}

/** Bubblewrap is tested once per process. `modeSource` is the source of the mode. */
export async function sandboxState(
  settings: SandboxSettings,
  modeSource: SettingSource = 'default',
): Promise<SandboxState> {
  const { mode, required } = settings;
  const nothing = (refuses: boolean, message: string): SandboxState => ({
    mode,
    holds: 'nothing',
    refuses,
    message,
  });
  if (mode === 'off') {
    const text = `switched off${switchedOffBy(modeSource)}: agents run with all your permissions`;
    return nothing(required, required ? `${text}, but [sandbox] required = true` : text);
  }
  if (mode === 'srt') {
    const why = "it cannot give an agent access to only Drover's socket";
    return nothing(
      true,
      `[sandbox] mode = "srt" is not available here: ${why}; use "bwrap" or "auto"`,
    );
  }
  if (mode === 'agent') {
    const open = 'gates and setups run with all your permissions';
    return required
      ? nothing(true, `with [sandbox] mode = "agent", ${open}, but [sandbox] required = true`)
      : { mode, holds: 'agent', refuses: false, message: `each agent's own, strictly; ${open}` };
  }
  const proof = await proofNow();
  if (proof.holds) {
    const message = `${proof.version}, verified on this machine`;
    return { mode, holds: 'bwrap', refuses: false, message };
  }
  const isNeeded = required || mode === 'bwrap';
  const text = isNeeded ? proof.reason : `${proof.reason}; agents run with all your permissions`;
  return nothing(isNeeded, text);
}

/** Starts the test early, so that its result is available when needed. */
export function proveEarly(settings: SandboxSettings): void {
  // The failure reaches the caller that needs the result.
  sandboxState(settings).catch(() => undefined);
}

/**
 * The sandbox for `status`. Only a backend runs the test; other commands read its stored result
 * from the project's folder.
 */
export async function sandboxView(
  settings: SandboxSettings,
  folder: string,
  mayTry: boolean,
): Promise<SandboxView> {
  const { mode, required } = settings;
  const network = networkText(settings.network);
  const note = join(folder, 'sandbox', 'proof.json');
  const needsProof = mode === 'auto' || mode === 'bwrap';
  if (!needsProof || mayTry) {
    const { holds, message } = await sandboxState(settings);
    if (needsProof) writeNote(note, { holds, message });
    return { mode, network, required, holds, message };
  }
  const untried = { holds: null, message: 'not tested yet; a run or "drover doctor" tests it' };
  return { mode, network, required, ...(readNote(note) ?? untried) };
}

type Note = Pick<SandboxView, 'holds' | 'message'>;

function writeNote(file: string, note: Note): void {
  const text = JSON.stringify(note);
  if (lastNotes.get(file) === text) return;
  lastNotes.set(file, text);
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(file, text, { mode: 0o600 });
  } catch {
    // Without the stored result, other commands report that the sandbox was not tested.
  }
}

const lastNotes = new Map<string, string>();

function readNote(file: string): Note | null {
  try {
    const { holds, message } = JSON.parse(readFileSync(file, 'utf8')) as Note;
    const isNote = (holds === 'bwrap' || holds === 'nothing') && typeof message === 'string';
    return isNote ? { holds, message } : null;
  } catch {
    return null;
  }
}

function proofNow(): Promise<Proof> {
  const program = bwrapProgram();
  const key = program ?? '';
  const known = proofs.get(key);
  if (known !== undefined) return known;
  const proof = proveBwrap(program);
  proofs.set(key, proof);
  // If it is missing, it may be installed later.
  void proof.then((told) => {
    if (!told.holds) proofs.delete(key);
  });
  return proof;
}

/** The system's bubblewrap, never one from a project or a folder on the user's path. */
export function bwrapProgram(): string | null {
  return findProgram('bwrap', { PATH: '/usr/bin:/bin:/usr/local/bin' }, '/');
}
