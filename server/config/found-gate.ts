// The command that may serve as the gate of a repository, read from its files.

import { join } from 'node:path';
import {
  gateProposalFiles,
  proposeGate,
  type GateProposal,
  type GateProposalFile,
} from '../core/work/gate-proposal.ts';
import { readPlainFile } from './plain-file.ts';

const fileBytesMax = 256 * 1024;

/** Returns null if the root has no file that names one. */
export async function findGate(root: string): Promise<GateProposal | null> {
  const texts: Partial<Record<GateProposalFile, string>> = {};
  for (const file of gateProposalFiles) {
    const limits = { bytesMax: fileBytesMax, links: 'refuse' } as const;
    const read = await readPlainFile(join(root, file), limits);
    if (read.kind === 'read') texts[file] = read.bytes.toString('utf8');
    // A long lock file is sufficient evidence by existing.
    else if (read.kind === 'refused' && read.reason.kind === 'too_long') texts[file] = '';
  }
  return proposeGate(texts);
}
