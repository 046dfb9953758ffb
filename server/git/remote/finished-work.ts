// Makes an attempt's commit available to other machines: on the remote or, while that is
// unreachable from here, through the carrier.

import { err, ok } from '../../core/failure.ts';
import { branchRef } from '../../core/work/ref-names.ts';
import type { GitFailure, GitResult, RepositoryFacts } from '../port.ts';
import type { CommitLeftoversOutcome, CommitLeftoversRequest } from '../slot-port.ts';
import { labelOfBranch } from '../keep/work-chain.ts';
import { type Carrier, sendCarried } from './carried-work.ts';
import { uploadLargeFiles } from './large-files.ts';
import type { PublishedBranches } from './publish.ts';
import type { Remote } from './remote.ts';
import type { WorkPushes } from './work-pushes.ts';

export interface FinishedDeps {
  readonly remote: Remote;
  readonly branches: PublishedBranches;
  readonly work: WorkPushes;
  readonly carrier: Carrier | null;
  readonly report: (error: unknown, doing: string) => void;
}

type Committed = CommitLeftoversOutcome;

export async function publishFinished(
  deps: FinishedDeps,
  facts: RepositoryFacts,
  request: Pick<CommitLeftoversRequest, 'base' | 'branch'>,
  done: Committed,
): Promise<GitResult<Committed>> {
  const ref = branchRef(request.branch);
  const secrets = done.committedSecrets ?? [];
  if (secrets.length > 0) {
    const message = `${secrets.join(', ')} must not leave this machine: ${request.branch} is not pushed.`;
    deps.report(new Error(message), `pushing ${request.branch}`);
    return ok(done);
  }
  const { commit, changed } = done;
  const uploaded = changed
    ? await uploadLargeFiles(deps.remote, facts, ref, commit)
    : ok(undefined);
  if (!uploaded.ok) return uploaded;
  // Other machines do not need a branch without its own work.
  if (!changed && !deps.branches.hasMoved(ref)) return ok(done);
  const published = await deps.branches.move(ref, commit, null);
  if (published.ok) return ok(done);
  const isCarried = changed && (await carryAway(deps, request, done, published.error));
  return isCarried ? ok(done) : err({ ...published.error, made: done });
}

/** The last resort, because everyone can read the remote with plain git. */
async function carryAway(
  { remote, work, carrier, report }: FinishedDeps,
  { base, branch }: Pick<CommitLeftoversRequest, 'base' | 'branch'>,
  { commit }: Committed,
  trouble: GitFailure,
): Promise<boolean> {
  if (carrier === null || trouble.isAway !== true) return false;
  const ref = branchRef(branch);
  const range = { attempt: labelOfBranch(ref), commit, base };
  try {
    if (!(await sendCarried(remote.context, carrier, range))) return false;
  } catch (error) {
    report(error, `carrying ${branch} to the other machines`);
    return false;
  }
  report(trouble, `pushing ${branch}, which goes to the other machines through the database`);
  // The work must also get to the remote until its task has landed.
  work.add(ref);
  return true;
}
