// The checks of `drover doctor` for a fleet: its database, its git remote and its machines.

import { formatDuration } from '../core/format.ts';
import { openGitAdapter } from '../git/repository/adapter.ts';
import type { MachineView } from '../protocol/api.ts';
import type { LiveSettings } from '../project/live-settings.ts';
import type { Check, DoctorRequest } from './check.ts';

export async function fleetChecks(
  root: string,
  live: LiveSettings,
  url: string,
  { remoteCommits }: DoctorRequest,
): Promise<readonly Check[]> {
  const database = await databaseChecks(url, live.settings.fleet.takeOverAfterMs);
  const checks = [...database, ...(await fleetRemoteCheck(root, live))];
  const isUsable = checks.every(({ name, ok }) => ok || !name.startsWith('fleet '));
  if (remoteCommits !== true || !isUsable) return checks;
  const { remoteCommitsCheck } = await import('./remote-commits.ts');
  return [...checks, ...(await remoteCommitsCheck(root, live, url))];
}

/** Its client is loaded only if such a database is used. */
async function databaseChecks(url: string, takeOverAfterMs: number): Promise<readonly Check[]> {
  const { checkPostgres } = await import('../store/postgres/check.ts');
  const { ok, message, machines } = await checkPostgres(url, takeOverAfterMs);
  const { fleetTablesProblem } = await import('../fleet/fleet-database.ts');
  const problem = ok ? await fleetTablesProblem(url) : null;
  const check =
    problem === null
      ? { name: 'fleet database', ok, message }
      : { name: 'fleet database', ok: false, message: problem };
  return [check, ...machines.map(machineCheck)];
}

/**
 * Pushes, moves and removes refs and a branch of its own, because only that shows whether a remote
 * accepts pushes.
 */
async function fleetRemoteCheck(root: string, live: LiveSettings): Promise<readonly Check[]> {
  const name = 'fleet remote';
  const problem = live.unaccepted('fleet.');
  if (problem !== null) return [{ name, ok: false, message: problem }];
  const { remote, branchPrefix } = live.settings.fleet;
  const opened = await openGitAdapter().open(root);
  // Already reported.
  if (!opened.ok) return [];
  const { checkRemote } = await import('../git/remote/check.ts');
  const checked = await checkRemote(opened.value, { remote, branchPrefix, machineId: 'doctor' });
  if (!checked.ok) return [{ name, ok: false, message: checked.error.message }];
  const notes = checked.value.notes.map((note) => `; ${note}`).join('');
  return [{ name, ok: true, message: `${remote}: can be read, and takes pushes${notes}` }];
}

function machineCheck(machine: MachineView): Check {
  const { name, state, agents, agents_max: most, labels, note, heard_ago_ms: agoMs } = machine;
  const check = { name: `machine ${name}`, ok: state !== 'dead' };
  const ago = formatDuration(agoMs);
  switch (state) {
    case 'working':
    case 'draining': {
      const offers = labels.length === 0 ? '' : `, labels ${labels.join(', ')}`;
      const short = note === null ? '' : `. ${note}`;
      const message = `${state}, ${agents} of ${most} agents running${offers}${short}`;
      return { ...check, message };
    }
    case 'dead':
      return {
        ...check,
        message: `no heartbeat for ${ago}; its tasks go to other machines. Restart "drover worker" there`,
      };
    case 'left':
      return { ...check, message: `left the fleet ${ago} ago` };
  }
}
