// What holds agents, gate and setup on this machine now: decided by the settings and by trying, told in one sentence.

import { findProgram } from '../agents/find-program.ts';
import type { SandboxMode, SandboxSettings } from '../core/sandbox-settings.ts';
import { proveBwrap, type Proof } from '../sandbox/probe.ts';

/** What holds for the programs that are started now. */
export interface SandboxState {
  readonly mode: SandboxMode;
  readonly holds: 'bwrap' | 'nothing';
  /** No program is started as things are. */
  readonly refuses: boolean;
  /** One sentence for people. */
  readonly message: string;
}

const proofs = new Map<string, Promise<Proof>>();

/** Bubblewrap is proved once in the life of this process. */
export async function sandboxState(settings: SandboxSettings): Promise<SandboxState> {
  const { mode, required, network } = settings;
  const nothing = (refuses: boolean, message: string): SandboxState => ({
    mode,
    holds: 'nothing',
    refuses,
    message,
  });
  if (mode === 'off') {
    const text = 'switched off ([sandbox] mode = "off"): agents run with all your powers';
    return nothing(required, required ? `${text}, but [sandbox] required = true` : text);
  }
  if (mode === 'srt' || mode === 'agent') {
    return nothing(true, `[sandbox] mode = "${mode}" is not available here; use "bwrap" or "auto"`);
  }
  if (network === 'model-only') {
    const text = '[sandbox] network = "model-only" is not available here; use "open" or "none"';
    return nothing(true, text);
  }
  const proof = await proofNow();
  if (proof.holds) {
    const message = `${proof.version}, proved on this machine`;
    return { mode, holds: 'bwrap', refuses: false, message };
  }
  const isNeeded = required || mode === 'bwrap';
  const text = isNeeded ? proof.reason : `${proof.reason}; agents run with all your powers`;
  return nothing(isNeeded, text);
}

function proofNow(): Promise<Proof> {
  const program = bwrapProgram();
  const key = program ?? '';
  const known = proofs.get(key);
  if (known !== undefined) return known;
  const proof = proveBwrap(program);
  proofs.set(key, proof);
  // One that is missing may be installed meanwhile.
  void proof.then((told) => {
    if (!told.holds) proofs.delete(key);
  });
  return proof;
}

/** The system's own, never one that a project or a folder on the user's path brings. */
export function bwrapProgram(): string | null {
  return findProgram('bwrap', { PATH: '/usr/bin:/bin:/usr/local/bin' }, '/');
}
