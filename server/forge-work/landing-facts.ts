// Reads what landing on the forge will require, before any work.

import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type LandingFacts,
  type LandingRow,
  landingRows,
  type TriedFacts,
} from '../core/forge/landing-rules.ts';
import type { Read } from '../core/forge/observed-pull.ts';
import { type WorkflowFile, parseWorkflow } from '../core/forge/workflow-triggers.ts';
import { GithubPulls } from '../forge/github-pulls.ts';
import { GithubRights } from '../forge/github-rights.ts';
import type { Forge, ForgeRights } from '../forge/port.ts';
import type { GitRemote } from '../forge/git-remote.ts';
import { openForge, type OpenedForge } from './open-forge.ts';
import { toRead } from './read-answer.ts';

/** Never pushed. */
const triedBranch = 'drover/doctor';

export interface LandingRequest {
  readonly root: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The branch that pull requests are merged into. */
  readonly base: string;
  /** Whether to try permissions that no response reports. This changes nothing. */
  readonly isTrying: boolean;
}

/** Refuses if the project has no remote on a forge. */
export async function readLandingRows(request: LandingRequest): Promise<readonly LandingRow[]> {
  const opened = await openForge(request.root, request.env, Date.now);
  return landingRows(await readLandingFacts(opened, request));
}

async function readLandingFacts(
  { client, remote, repository }: OpenedForge,
  { root, base, isTrying }: LandingRequest,
): Promise<LandingFacts> {
  const rights: ForgeRights = new GithubRights(client, repository);
  const forge: Forge = new GithubPulls(client, repository);
  const [known, user, release, rules] = await Promise.all([
    rights.repository(),
    rights.user(),
    rights.release(),
    forge.rules(base),
  ]);
  const facts: LandingFacts = {
    host: repository.host,
    base,
    repository: toRead(known),
    user: toRead(user),
    release: toRead(release),
    rules: toRead(rules),
    workflows: workflowsIn(root),
  };
  return isTrying ? { ...facts, tried: await tryRights({ rights, forge, remote }, base) } : facts;
}

interface Ways {
  readonly rights: ForgeRights;
  readonly forge: Forge;
  readonly remote: GitRemote;
}

async function tryRights({ rights, forge, remote }: Ways, base: string): Promise<TriedFacts> {
  const pushed = await remote.tryPush(triedBranch);
  const tip = await remote.tip(base);
  const pulls = await rights.mayOpenPulls(base);
  const reviews = await rights.mayReadReviews();
  const noTip: Read<never> = { kind: 'unread', why: `the remote has no branch ${base}` };
  return {
    push: pushed.ok ? { kind: 'read', value: true } : { kind: 'unread', why: pushed.error.message },
    pulls: toRead(pulls),
    checks: tip.ok && tip.value !== null ? toRead(await forge.checks(tip.value)) : noTip,
    reviews: toRead(reviews),
  };
}

const workflowFolder = '.github/workflows';
const workflowsMax = 100;
const workflowBytesMax = 256 * 1024;

/** Workflows of the checkout, which are nearly always the same as the base's. */
function workflowsIn(root: string): readonly WorkflowFile[] {
  try {
    const names = readdirSync(join(root, workflowFolder)).filter((name) => /\.ya?ml$/u.test(name));
    return names.slice(0, workflowsMax).flatMap((name) => {
      const path = `${workflowFolder}/${name}`;
      const text = smallText(join(root, path));
      return text === null ? [] : [parseWorkflow(path, text)];
    });
  } catch {
    return [];
  }
}

/** Returns null if the file is a link, a pipe or too large. */
function smallText(file: string): string | null {
  const facts = lstatSync(file);
  return facts.isFile() && facts.size <= workflowBytesMax ? readFileSync(file, 'utf8') : null;
}
