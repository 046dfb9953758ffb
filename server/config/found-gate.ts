// Finds a command that may serve as a repository's gate, by reading its files.

import { join } from 'node:path';
import {
  gateProposalFiles,
  proposeGate,
  type GateProposal,
  type GateProposalFile,
} from '../core/work/gate-proposal.ts';
import { readPlainFile } from './plain-file.ts';

const fileBytesMax = 256 * 1024;

/** Returns null if no file in the root names one. */
export async function findGate(root: string): Promise<GateProposal | null> {
  const texts: Partial<Record<GateProposalFile, string>> = {};
  for (const file of gateProposalFiles) {
    const limits = { bytesMax: fileBytesMax, links: 'refuse' } as const;
    const read = await readPlainFile(join(root, file), limits);
    if (read.kind === 'read') texts[file] = read.bytes.toString('utf8');
    // The existence of a long lock file is sufficient evidence.
    else if (read.kind === 'refused' && read.reason.kind === 'too_long') texts[file] = '';
  }
  return proposeGate(texts);
}
